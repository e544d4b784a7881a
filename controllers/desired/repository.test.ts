import { describe, expect, test } from "vitest";
import { repositoryClaim, repositoryConfig, repositoryDeployment, repositorySize } from "./repository.ts";
import { sampleDB } from "./sampledb.fixture.ts";
import type { Archived } from "./store.ts";

const clients = { server: "shop/orders/server", operator: "shop/orders/operator" };
const archived = (backup: object = {}, spec: object = {}) => sampleDB({ backup, ...spec } as Parameters<typeof sampleDB>[0]) as Archived;
const s3 = {
  endpoint: "https://s3.example.com:9000",
  region: "us-east-1",
  bucket: "backups",
  prefix: "databases",
  uriStyle: "Path",
  credentialsSecretName: "store-keys",
};
const inBucket = (fields: object = {}, backup: object = {}) => archived({ repository: { s3: { ...s3, ...fields } }, ...backup });
const conf = (db: Archived, generation = 1) => repositoryConfig(db, { generation }, clients).data?.["pgbackrest.conf"]?.split("\n") ?? [];
const pod = (db: Archived) => {
  const spec = repositoryDeployment(db, { image: "own:17", archive: { generation: 1 }, running: true }).spec?.template.spec;
  if (!spec) throw new Error("the Deployment has no Pod");
  return spec;
};
const mounted = (db: Archived) => pod(db).containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath);

describe("pgbackrest.conf", () => {
  test("of a volume", () => {
    expect(conf(archived())).toEqual(
      expect.arrayContaining(["[global]", "repo1-type=posix", "repo1-path=/var/lib/pgbackrest", "[uid-of-orders-17-1]"]),
    );
  });

  test("of a bucket: SampleDBs that share it have folders of their own", () => {
    expect(conf(inBucket())).toEqual(
      expect.arrayContaining([
        "repo1-type=s3",
        "repo1-path=/databases/shop/uid-of-orders",
        "repo1-s3-endpoint=https://s3.example.com:9000",
        "repo1-s3-bucket=backups",
        "repo1-s3-region=us-east-1",
        "repo1-s3-uri-style=path",
      ]),
    );
    expect(conf(inBucket({ prefix: undefined }))).toContain("repo1-path=/shop/uid-of-orders");
  });

  test("has the store's authority and encryption where asked, and otherwise not", () => {
    expect(conf(inBucket()).join()).not.toMatch(/ca-file|cipher/);
    const asked = conf(inBucket({ caSecretName: "ca" }, { encryptionSecretName: "passphrase" }));
    expect(asked).toEqual(expect.arrayContaining(["repo1-storage-ca-file=/etc/sampledb/store-ca/ca.crt", "repo1-cipher-type=aes-256-cbc"]));
  });

  test("another major or generation is another stanza", () => {
    expect(conf(archived({}, { postgresVersion: 15 }), 3)).toContain("[uid-of-orders-15-3]");
  });
});

describe("the repository's Pod", () => {
  test("has the user's Secrets as optional files, and none that is not asked for", () => {
    const all = inBucket({ caSecretName: "store-ca" }, { encryptionSecretName: "passphrase" });
    const secrets = pod(all).volumes?.flatMap(({ secret }) => (secret?.optional ? [secret.secretName] : []));
    expect(secrets).toEqual(["store-keys", "store-ca", "passphrase"]);
    expect(mounted(archived())?.filter((path) => /store|encryption/.test(path))).toEqual([]);
  });

  test("has the volume only where the repository is one", () => {
    expect(mounted(archived())).toContain("/var/lib/pgbackrest");
    expect(mounted(inBucket())).not.toContain("/var/lib/pgbackrest");
  });

  test("runs the operator's image, not the user's, without a token and without rights", () => {
    const theirs = archived({}, { image: "registry.example.com/theirs:17" });
    expect(pod(theirs).containers.map(({ image }) => image)).toEqual(["own:17"]);
    expect(pod(theirs).automountServiceAccountToken).toBe(false);
    expect(pod(theirs).serviceAccountName).toBeUndefined();
  });

  test("leaves a lost node after half a minute, and keeps the user's tolerations", () => {
    const tolerations = [{ key: "dedicated", operator: "Exists" }];
    const tolerated = pod(archived({}, { tolerations })).tolerations ?? [];
    expect(tolerated[0]).toMatchObject({ key: "dedicated" });
    expect(tolerated.filter(({ tolerationSeconds }) => tolerationSeconds === 30)).toHaveLength(2);
  });

  test("is there while there is something to do", () => {
    const replicas = (running: boolean) =>
      repositoryDeployment(archived(), { image: "i", archive: { generation: 1 }, running }).spec?.replicas;
    expect([replicas(true), replicas(false)]).toEqual([1, 0]);
  });
});

describe("the repository's claim", () => {
  test.each([
    ["10Gi", undefined, "20Gi"],
    ["1.5Gi", undefined, "3Gi"],
    ["10Gi", "35Gi", "35Gi"],
  ])("for data of %s, asked %s: %s", (size, asked, expected) => {
    const repository = asked === undefined ? undefined : { volume: { size: asked } };
    expect(repositorySize(archived({ repository }, { storage: { size } }))).toBe(expected);
  });

  test("has no owner, so that it outlives the SampleDB, and is no instance's", () => {
    const { metadata } = repositoryClaim(archived());
    expect(metadata.ownerReferences).toBeUndefined();
    expect(metadata.labels?.["sampledb.io/component"]).toBe("repository");
  });
});

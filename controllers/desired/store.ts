// Where the repository of a SampleDB lies, a volume or a bucket: pgBackRest's settings for it, and the mounts of a Pod that works on it.
import type { Deployment } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { namesOf } from "./names.ts";

type Backup = NonNullable<SampleDB["spec"]["backup"]>;
type S3 = NonNullable<NonNullable<Backup["repository"]>["s3"]>;
type PodSpec = NonNullable<NonNullable<Deployment["spec"]>["template"]["spec"]>;

/** A SampleDB that has a repository. */
export type Archived = SampleDB & { readonly spec: { readonly backup: Backup } };

export function isArchived(db: SampleDB): db is Archived {
  return db.spec.backup !== undefined;
}

/** Of the ConfigMap with addresses, in every Pod that runs pgBackRest on the repository. */
export const configDirectory = "/etc/sampledb/repository";
/** The key in that ConfigMap, and so the name of the file. */
export const pgBackRestFile = "pgbackrest.conf";

const volumeDirectory = "/var/lib/pgbackrest";
const storeDirectory = "/etc/sampledb/store";
const storeAuthorityDirectory = "/etc/sampledb/store-ca";
const encryptionDirectory = "/etc/sampledb/encryption";

/** The bucket; undefined where the repository is a volume. */
export function bucketOf({ spec: { backup } }: Archived): S3 | undefined {
  return backup.repository?.s3;
}

export function hasVolume(db: Archived): boolean {
  return bucketOf(db) === undefined;
}

/** Without keys: the programs add those from the mounted files. */
export function storeSettings(db: Archived): Readonly<Record<string, string>> {
  const s3 = bucketOf(db);
  return {
    ...(s3 ? bucketSettings(db, s3) : { "repo1-type": "posix", "repo1-path": volumeDirectory }),
    ...(db.spec.backup.encryptionSecretName === undefined ? {} : { "repo1-cipher-type": "aes-256-cbc" }),
    "compress-type": "zst",
  };
}

/** The folder in the bucket. It has namespace and uid in it, so SampleDBs that share a bucket can't read, overwrite or expire each other's backups. */
export function bucketFolder({ metadata: { namespace, uid } }: Archived, { prefix }: S3): string {
  return [prefix, namespace, uid].filter(Boolean).join("/");
}

function bucketSettings(db: Archived, s3: S3): Record<string, string> {
  return {
    "repo1-type": "s3",
    "repo1-path": `/${bucketFolder(db, s3)}`,
    "repo1-s3-endpoint": s3.endpoint,
    "repo1-s3-bucket": s3.bucket,
    "repo1-s3-region": s3.region,
    "repo1-s3-uri-style": s3.uriStyle.toLowerCase(),
    ...(s3.caSecretName === undefined ? {} : { "repo1-storage-ca-file": `${storeAuthorityDirectory}/ca.crt` }),
  };
}

export interface Mounts {
  readonly volumes: NonNullable<PodSpec["volumes"]>;
  readonly volumeMounts: NonNullable<PodSpec["containers"][number]["volumeMounts"]>;
}

/** Keys, authority and passphrase as files, the repository's volume, and room to work in. Only for Pods of the operator's own image. */
export function storeMounts(db: Archived): Mounts {
  const { encryptionSecretName } = db.spec.backup;
  const s3 = bucketOf(db);
  const secrets = [
    ...(s3 ? [secretVolume("store", storeDirectory, s3.credentialsSecretName)] : []),
    ...(s3?.caSecretName === undefined ? [] : [secretVolume("store-ca", storeAuthorityDirectory, s3.caSecretName)]),
    ...(encryptionSecretName === undefined ? [] : [secretVolume("encryption", encryptionDirectory, encryptionSecretName)]),
  ];
  return {
    volumes: [
      ...secrets.map(({ volume }) => volume),
      ...(s3 ? [] : [{ name: "repository", persistentVolumeClaim: { claimName: namesOf(db).repository } }]),
      { name: "run", emptyDir: { medium: "Memory" } }, // keys are written there
      { name: "tmp", emptyDir: {} },
    ],
    volumeMounts: [
      ...secrets.map(({ mount }) => mount),
      ...(s3 ? [] : [{ name: "repository", mountPath: volumeDirectory }]),
      { name: "run", mountPath: "/run/pgbackrest" },
      { name: "tmp", mountPath: "/tmp" },
    ],
  };
}

/** Optional: without the Secret the Pod starts all the same, and its program says what is missing. */
function secretVolume(name: string, mountPath: string, secretName: string) {
  return {
    volume: { name, secret: { secretName, optional: true, defaultMode: 0o640 } },
    mount: { name, mountPath, readOnly: true },
  };
}

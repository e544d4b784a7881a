// The samples on a real API server: accepted, with the schemas' defaults, and handled by kubectl as the docs show.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { KubernetesObject } from "../e2e/cluster/kubectl.ts";
import { StandaloneControlPlane } from "../e2e/cluster/standalone.ts";
import { eventually } from "../tools/eventually.ts";
import { kinds } from "./kinds.ts";
import { apiVersion } from "./version.ts";

const samplesDirectory = join(import.meta.dirname, "../config/samples");
const samples = readdirSync(samplesDirectory).filter((file) => file.endsWith(".yaml") && file !== "kustomization.yaml");

let plane: StandaloneControlPlane;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  await plane.kubectl("apply", "--server-side", "-f", join(import.meta.dirname, "../config/crd/bases"));
  await plane.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s");
  for (const { plural } of kinds) {
    await eventually(`${plural} are served`, 30_000, async () => (await ask("GET", `/apis/${apiVersion}/${plural}`)).status === 200);
  }
  await plane.kubectl("apply", "--server-side", ...samples.flatMap((file) => ["-f", join(samplesDirectory, file)]));
});

afterAll(() => plane.stop());

async function ask(method: string, path: string, body?: object): Promise<{ status: number; body: KubernetesObject }> {
  const answer = await plane.request(method, path, body);
  if (!answer) throw new Error(`nobody answered ${method} ${path}`);
  return answer;
}

const pathOf = (plural: string, name: string) => `/apis/${apiVersion}/namespaces/default/${plural}/${name}`;
const sampleDB = (name: string) => ask("GET", pathOf("sampledbs", name)).then(({ body }) => body);
const make = (name: string) => plane.request("POST", `/apis/${apiVersion}/namespaces/default/sampledbs`, minimal(name));
const minimal = (name: string, spec: object = {}) => ({
  apiVersion,
  kind: "SampleDB",
  metadata: { name },
  spec: { postgresVersion: 17, storage: { size: "1Gi" }, ...spec },
});

function kindOf(name: string) {
  const kind = kinds.find((candidate) => candidate.kind === name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

describe.each(samples)("the sample %s", (file) => {
  const sample = parse(readFileSync(join(samplesDirectory, file), "utf8")) as KubernetesObject;
  const kind = kindOf(sample["kind"]);

  test("is stored with the defaults of the schema, and reads back", async () => {
    const { status, body } = await ask("GET", pathOf(kind.plural, sample["metadata"].name));
    expect(status).toBe(200);
    expect(body["spec"]).toEqual(kind.spec.parse(sample["spec"]));
    expect(kind.spec.parse(body["spec"])).toEqual(body["spec"]);
  });

  test("is unchanged when it is applied as it was stored", async () => {
    const { body } = await ask("GET", pathOf(kind.plural, sample["metadata"].name));
    const again = await ask("PUT", `${pathOf(kind.plural, sample["metadata"].name)}?dryRun=All`, body);
    expect(again.status, again.body["message"]).toBe(200);
    expect(again.body["spec"]).toEqual(body["spec"]);
    expect(again.body["metadata"].generation).toBe(body["metadata"].generation);
  });
});

test("a minimal SampleDB needs at most five lines of spec, and gets these defaults", async () => {
  const text = readFileSync(join(samplesDirectory, "sampledb_minimal.yaml"), "utf8");
  expect(text.trim().split("spec:\n")[1]?.split("\n").length).toBeLessThanOrEqual(5);
  expect((await sampleDB("minimal"))["spec"]).toEqual({
    postgresVersion: 17,
    storage: { size: "1Gi" },
    replicas: 1,
    synchronousReplication: "Disabled",
    bootstrap: { databaseName: "app", ownerName: "app" },
    powerState: "Running",
    deletionProtection: false,
    paused: false,
  });
});

describe("kubectl", () => {
  test.each(["sampledbs", "sdb"])("get %s shows the columns", async (name) => {
    const [header, ...rows] = (await plane.kubectl("get", name)).trim().split("\n");
    expect(header?.split(/\s{2,}/)).toEqual(["NAME", "VERSION", "READY", "REPLICAS", "PRIMARY", "STATUS", "LAST BACKUP", "AGE"]);
    expect(rows.find((row) => row.startsWith("minimal "))).toMatch(/^minimal +17 +\d+s$/);
  });

  test("get --output=wide shows storage and power too", async () => {
    const output = await plane.kubectl("get", "sdb", "ha", "--output=wide");
    expect(output.split("\n")[0]?.split(/\s{2,}/)).toEqual(expect.arrayContaining(["STORAGE", "POWER"]));
    expect(output).toMatch(/^ha +17 +2Gi +Running +\d+s$/m);
  });

  test.each([
    ["sdbbackup", "with-backups-full", /^with-backups-full +with-backups +Full +\d+s$/m],
    ["sdbrestore", "latest-into-new", /^latest-into-new +copy +New +Latest +\d+s$/m],
  ])("get %s shows the columns", async (shortName, name, row) => {
    expect(await plane.kubectl("get", shortName, name)).toMatch(row);
  });

  test("the singular name means SampleDBs and no other kind; the category means all three", async () => {
    expect(await plane.kubectl("delete", "sampledb", "--all", "--dry-run=server")).not.toMatch(/(backup|restore)\.sampledb\.io/);
    expect(await plane.kubectl("get", "sampledb", "minimal", "--output=name")).toBe("sampledb.sampledb.io/minimal\n");
    const everything = await plane.kubectl("get", "sampledb-all", "--output=name");
    for (const kind of ["sampledb", "backup", "restore"]) expect(everything).toContain(`${kind}.sampledb.io/`);
  });

  test("delete all --all leaves every kind alone", async () => {
    const before = await plane.kubectl("get", "sampledbs,backups,restores", "--output=name");
    await plane.kubectl("delete", "all", "--all");
    expect(await plane.kubectl("get", "sampledbs,backups,restores", "--output=name")).toBe(before);
    expect(before.trim().split("\n")).toHaveLength(samples.length);
  });

  test("explain shows the descriptions of fields", async () => {
    const output = await plane.kubectl("explain", "sdb.spec.backup.schedules");
    expect(output).toMatch(/FIELD: schedules <\[\]Object>/);
    for (const field of ["name", "schedule", "timeZone", "type", "suspend", "startingDeadlineSeconds"]) {
      expect(output).toMatch(new RegExp(`^  ${field}\\t.*\\n.*\\w+`, "m"));
    }
    expect(output).toContain("as in a CronJob");
  });

  test("scale sets the replicas, within their bounds", async () => {
    await make("scaled");
    await plane.kubectl("scale", "sdb", "scaled", "--replicas=3");
    expect((await sampleDB("scaled"))["spec"].replicas).toBe(3);
    await expect(plane.kubectl("scale", "sdb", "scaled", "--replicas=10")).rejects.toThrow(/spec\.replicas.*less than or equal to 9/);
    expect((await sampleDB("scaled"))["spec"].replicas).toBe(3);
    await plane.kubectl("delete", "sdb", "scaled");
  });

  test("patch changes one field and leaves the others", async () => {
    await make("patched");
    const before = await sampleDB("patched");
    await plane.kubectl("patch", "sdb", "patched", "--type=merge", '--patch={"spec":{"storage":{"size":"2Gi"}}}');
    await plane.kubectl("patch", "sdb", "patched", "--type=json", '--patch=[{"op":"replace","path":"/spec/paused","value":true}]');
    const after = await sampleDB("patched");
    expect(after["spec"]).toEqual({ ...before["spec"], storage: { size: "2Gi" }, paused: true });
    expect(after["metadata"].generation).toBe(before["metadata"].generation + 2);
    await expect(plane.kubectl("patch", "sdb", "patched", "--type=merge", '--patch={"spec":{"storage":{"size":"1Gi"}}}')).rejects.toThrow(
      /spec\.storage\.size.*can't shrink/,
    );
    await plane.kubectl("delete", "sdb", "patched");
  });

  test("--dry-run=server changes nothing", async () => {
    const before = await sampleDB("minimal");
    expect(await plane.kubectl("patch", "sdb", "minimal", "--type=merge", '--patch={"spec":{"replicas":2}}', "--dry-run=server")).toMatch(
      /patched/,
    );
    expect(await sampleDB("minimal")).toEqual(before);
  });

  test("field selectors find by version, power and name", async () => {
    await plane.request("POST", `/apis/${apiVersion}/namespaces/default/sampledbs`, minimal("asleep", { powerState: "Hibernated" }));
    const found = (resource: string, selector: string) =>
      plane.kubectl("get", resource, `--field-selector=${selector}`, "--output=jsonpath={.items[*].metadata.name}");
    expect(await found("sdb", "spec.powerState=Hibernated")).toBe("asleep");
    expect(await found("sdb", "spec.powerState=Running")).toBe("everything ha minimal with-backups");
    expect(await found("sdb", "spec.postgresVersion=15")).toBe("");
    expect(await found("backups", "spec.type=Incremental")).toBe("with-backups-incremental");
    expect(await found("restores", "spec.destination.sampleDBName=copy")).toBe("latest-into-new");
    await plane.kubectl("delete", "sdb", "asleep");
  });
});

describe("a field of a newer version", () => {
  const path = `/apis/${apiVersion}/namespaces/default/sampledbs`;
  const newer = minimal("newer", { laterField: { a: 1 }, storage: { size: "1Gi", laterField: true } });

  test("is refused by name where the client asks for strictness, as kubectl does", async () => {
    const { status, body } = await ask("POST", `${path}?dryRun=All&fieldValidation=Strict`, newer);
    expect(status).toBe(400);
    expect(body["message"]).toMatch(/unknown field "spec\.laterField", unknown field "spec\.storage\.laterField"/);
  });

  test("is dropped otherwise, and the stored object can be read", async () => {
    const { status, body } = await ask("POST", `${path}?dryRun=All&fieldValidation=Ignore`, newer);
    expect(status).toBe(201);
    expect(body["spec"]).toEqual(kindOf("SampleDB").spec.parse(minimal("newer").spec));
    expect(kindOf("SampleDB").spec.parse(newer.spec)).toEqual(body["spec"]);
  });
});

test("a number of 64 bits survives in a spec and in a status", async () => {
  const largest = "18446744073709551615";
  const { body } = await ask("GET", pathOf("restores", "transaction"));
  expect(body["spec"].target.transactionID).toBe(largest);
  const written = await ask("PATCH", `${pathOf("backups", "with-backups-full")}/status`, { status: { systemIdentifier: largest } });
  expect(written.status, written.body["message"]).toBe(200);
  const status = (await ask("GET", pathOf("backups", "with-backups-full"))).body["status"];
  expect(kindOf("Backup").status.parse(status)).toEqual({ systemIdentifier: largest });
});

test("status and spec are written separately", async () => {
  const { status, body } = await ask("PATCH", `${pathOf("sampledbs", "minimal")}/status`, {
    spec: { replicas: 5 },
    status: { replicas: 1, readyReplicas: 1, primaryPodName: "minimal-0" },
  });
  expect(status, body["message"]).toBe(200);
  await ask("PATCH", pathOf("sampledbs", "minimal"), { status: { readyReplicas: 7 }, spec: { paused: true } });
  const stored = await sampleDB("minimal");
  expect(stored["status"]).toEqual({ replicas: 1, readyReplicas: 1, primaryPodName: "minimal-0" });
  expect(stored["spec"]).toMatchObject({ replicas: 1, paused: true });
  expect(await plane.kubectl("get", "sdb", "minimal")).toMatch(/^minimal +17 +1 +minimal-0 +\d+s$/m);
});

test("a status that breaks its schema is refused, and the field is named", async () => {
  const { status, body } = await ask("PATCH", `${pathOf("sampledbs", "ha")}/status`, { status: { readyReplicas: -1 } });
  expect(status).toBe(422);
  expect(body["message"]).toMatch(/status\.readyReplicas.*greater than or equal to 0/);
});

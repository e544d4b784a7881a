// A Restore that can't succeed is refused by the operator's webhook, on a real API server; what may be right is not.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiVersion } from "../api/version.ts";
import { backups, type Restore, restores, type SampleDB, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { startSuiteAlone } from "../e2e/faults/suite.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { type Guard, startGuard } from "./operator-process.fixture.ts";

const { plane, connection } = await startSuiteAlone();
const { client } = connection;
const namespace = "shop";
let guard: Guard;

const at = "2026-05-04T12:00:00Z";
const facts = { consistentTime: at, completionTime: at, stopLSN: "0/2000100", timeline: 2, databaseBytes: 30_000_000 };

async function backedUp(name: string, told: "True" | "False" | "Unknown", to = namespace): Promise<void> {
  const metadata = { name, namespace: to };
  const spec = { sampleDBName: "orders", type: "Full", deletionPolicy: "Retain" } as const;
  await client.create(backups, { apiVersion, kind: "Backup", metadata, spec });
  const conditions = [{ type: "Succeeded", status: told, reason: "Because", message: "", lastTransitionTime: at }];
  const status = { conditions, ...(told === "True" ? { ...facts, repository: { stanza: "uid-17-1" } } : {}) };
  await client.mergePatch(backups, metadata, { status }, { subresource: "status" });
}

async function ask(source: object, target: object = {}, overrides?: object): Promise<string | undefined> {
  return await askFor({ type: "New", sampleDBName: "copy", ...(overrides && { overrides }) }, source, target);
}

async function askFor(destination: object, source: object, target: object = {}): Promise<string | undefined> {
  const metadata = { generateName: "back-", namespace };
  const restore = { apiVersion, kind: "Restore", metadata, spec: { source, target: { type: "Latest", ...target }, destination } };
  const answer = await plane.request("POST", `/apis/${apiVersion}/namespaces/${namespace}/restores?dryRun=All`, restore);
  return answer?.status === 201 ? undefined : (answer?.body as { message?: string } | undefined)?.message;
}

beforeAll(async () => {
  const config = join(import.meta.dirname, "../config");
  await plane.kubectl("apply", "--server-side", "--kustomize", join(config, "crd"));
  await plane.kubectl("wait", "--for=condition=Established", "crd", "--all");
  for (const name of [namespace, "elsewhere"]) await plane.kubectl("create", "namespace", name);
  await backedUp("night", "True");
  await backedUp("bad", "False");
  await backedUp("others", "True", "elsewhere");
  guard = await startGuard(client, plane.kubeconfig, async () =>
    (await ask({ backupName: "other" }))?.includes("there is no Backup other"),
  );
});
afterAll(() => guard?.stop());

test.each([
  [
    "a Backup of another namespace",
    { backupName: "others" },
    {},
    undefined,
    /spec\.source\.backupName: .*there is no Backup others in this/,
  ],
  ["a Backup that failed", { backupName: "bad" }, {}, undefined, /Backup bad has failed/],
  ["a SampleDB without Backups", { sampleDBName: "other" }, {}, undefined, /SampleDB other has no good Backup/],
  [
    "a time before the window",
    { sampleDBName: "orders" },
    { type: "Time", time: "2026-05-04T11:59:59Z" },
    undefined,
    /spec\.target\.time: .*from 2026-05-04T12:00:01Z, when Backup night had ended, to the end of the archive can/,
  ],
  ["a future time", { backupName: "night" }, { type: "Time", time: "2126-05-04T12:00:00Z" }, undefined, /is in the future/],
  [
    "an LSN before the Backup's end",
    { backupName: "night" },
    { type: "LSN", lsn: "0/1" },
    undefined,
    /from 0\/2000100, where Backup night/,
  ],
  ["too small a volume", { backupName: "night" }, {}, { storage: { size: "20M" } }, /20M is too small/],
])("a Restore is refused at admission: %s", async (_, source, target, overrides, message) => {
  expect(await ask(source, target, overrides)).toMatch(message);
});

test("a Restore in place of a SampleDB that is protected, or is not there, is refused at admission", async () => {
  const inPlace = (sampleDBName: string) => ({ type: "InPlace", sampleDBName });
  const spec = { postgresVersion: 17, storage: { size: "1Gi" }, deletionProtection: true };
  await client.create(sampledbs, { apiVersion, kind: "SampleDB", metadata: { name: "orders", namespace }, spec } as SampleDB);
  await eventually("the operator knows the SampleDB", 30_000, async () =>
    (await askFor(inPlace("orders"), { backupName: "night" }))?.includes("set spec.deletionProtection to false first"),
  );
  expect(await askFor(inPlace("other"), { backupName: "night" })).toMatch(/SampleDB other is not there/);
});

test("a Restore to a moment that may be in the archive by now is not refused, nor one that is there already when it changes", async () => {
  expect(await ask({ sampleDBName: "orders" }, { type: "Time", time: new Date().toISOString() })).toBeUndefined();
  expect(await ask({ backupName: "night" }, { type: "LSN", lsn: "FFFF/0" })).toBeUndefined();
  const spec = { source: { backupName: "night" }, target: { type: "Latest" }, destination: { type: "New", sampleDBName: "copy" } };
  const metadata = { name: "back", namespace };
  await client.create(restores, { apiVersion, kind: "Restore", metadata, spec } as Restore);
  await client.delete(backups, { namespace, name: "night" });
  await eventually("the operator knows that it is gone", 30_000, async () => (await ask({ backupName: "night" })) !== undefined);
  await client.mergePatch(restores, metadata, { metadata: { labels: { changed: "yes" } } });
});

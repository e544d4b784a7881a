// Given what the process knows of a SampleDB, these metrics.
import { describe, expect, test } from "vitest";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { Pod } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { LeaderLock } from "../../patroni/state.ts";
import { families, type Known, TimeToReady } from "./metrics.ts";

const created = { creationTimestamp: "2026-01-01T00:00:00Z" };

function database(
  spec: Parameters<typeof sampleDB>[0] = {},
  metadata: Partial<SampleDB["metadata"]> = {},
  status: SampleDBStatus = {},
): SampleDB {
  return { ...sampleDB({ replicas: 3, ...spec }, { ...created, ...metadata }), status };
}

function conditions(states: Readonly<Record<string, "True" | "False">>): SampleDBStatus {
  const at = { reason: "Reason", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  return { conditions: Object.entries(states).map(([type, status]) => ({ type, status, ...at })) };
}

function pod(name: string, position: number | undefined, ready = true): Pod {
  const status = JSON.stringify(position === undefined ? { state: "creating replica" } : { xlog_location: position });
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "here", annotations: { status } },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

function lock(annotations: Record<string, string>): LeaderLock {
  return new LeaderLock({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "db-leader", namespace: "here", annotations } });
}

function told(known: Partial<Known>): Record<string, number> {
  const all = { db: database(), pods: [], lock: undefined, certificatesExpire: [], archive: undefined, ...known };
  return Object.fromEntries(
    families.flatMap(({ name, read }) => {
      const value = read(all);
      return value === undefined ? [] : [[name.replace("sampledb_", ""), value]];
    }),
  );
}

const leads = lock({ leader: "db-0", transitions: "4" });
const nothing = { replicas_wanted: 3, replicas_ready: 0, ready: 0, primary_available: 0 };

test.each<[string, Partial<Known>, Record<string, number>]>([
  ["a SampleDB without Pods has no ready replicas", {}, nothing],
  [
    "a healthy SampleDB has all metrics",
    {
      db: database({}, {}, conditions({ Ready: "True", PrimaryAvailable: "True" })),
      pods: [pod("db-0", 500), pod("db-1", 500), pod("db-2", 420)],
      lock: leads,
      certificatesExpire: [new Date(90_000), new Date(60_000)],
    },
    {
      ...{ replicas_wanted: 3, replicas_ready: 3, ready: 1, primary_available: 1 },
      ...{ primary_changes_total: 4, replication_lag_bytes: 80, certificate_expiry_timestamp_seconds: 60 },
    },
  ],
  [
    "the lag is 0 when a replica reported its position later than the primary",
    { pods: [pod("db-0", 500), pod("db-1", 510)], lock: leads },
    { replication_lag_bytes: 0 },
  ],
  [
    "the lag counts a lost replica at its last position",
    { pods: [pod("db-0", 500), pod("db-1", 100, false)], lock: leads },
    { replication_lag_bytes: 400 },
  ],
  ["a hibernated SampleDB wants no replicas", { db: database({ powerState: "Hibernated" }) }, { ...nothing, replicas_wanted: 0 }],
  [
    "a SampleDB that is being deleted wants no replicas",
    { db: database({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    { ...nothing, replicas_wanted: 0 },
  ],
  [
    "a condition that is False is 0",
    { db: database({}, {}, conditions({ Ready: "False", PrimaryAvailable: "True" })) },
    { ready: 0, primary_available: 1 },
  ],
])("%s", (_, known, expected) => {
  expect(told(known)).toMatchObject(expected);
});

test.each<[string, Partial<Known>]>([
  ["no instance leads", { pods: [pod("db-0", 500), pod("db-1", 400)], lock: lock({}) }],
  ["there is no replica", { pods: [pod("db-0", 500)], lock: leads }],
  ["replicas are being made", { pods: [pod("db-0", 500), pod("db-1", undefined)], lock: leads }],
  ["the primary has reported no position", { pods: [pod("db-0", undefined), pod("db-1", 400)], lock: leads }],
])("there is no metric of the lag while %s", (_, known) => {
  expect(told(known)).not.toHaveProperty("replication_lag_bytes");
});

describe("the archive", () => {
  const at = new Date();
  const primary = { answer: { waiting: 4, oldestSeconds: 70, sizeBytes: 100, availableBytes: 50 }, at };
  const last = { name: "000000010000000000000007", at: "1970-01-01T00:02:00Z" };
  const space = { sizeBytes: 1000, availableBytes: 400 };
  const window = { at: last.at, complete: true, backupCount: 1, last, gaps: [], gapCount: 2 };
  const repository = { answer: { stanza: "s", probe: { at: "1970-01-01T00:00:00Z", ok: true }, archive: { last }, window, space }, at };

  test("has metrics with spec.backup, and none without", () => {
    const db = database({}, {}, { ...conditions({ ArchivingHealthy: "True" }), firstRecoverableTime: "1970-01-01T00:01:00Z" });
    expect(told({ db, archive: { primary, repository } })).toMatchObject({
      ...{ archiving_healthy: 1, archive_segments_waiting: 4, archive_lag_seconds: 70, archive_last_timestamp_seconds: 120 },
      ...{ repository_probe_success: 1, repository_size_bytes: 1000, repository_available_bytes: 400 },
      ...{ first_recoverable_timestamp_seconds: 60, last_recoverable_timestamp_seconds: 120, archive_gaps: 2, archive_complete: 1 },
    });
    expect(Object.keys(told({})).filter((name) => /archiv|repository|recoverable/.test(name))).toEqual([]);
  });

  test("has no old figures of who does not answer, but for times", () => {
    const silence = { silence: "refused", silentSince: at };
    const figures = told({ archive: { primary: { ...primary, ...silence }, repository: { ...repository, ...silence } } });
    expect(Object.keys(figures).filter((name) => /archive_|repository/.test(name))).toEqual([
      "archive_last_timestamp_seconds",
      "repository_probe_success",
    ]);
    expect(figures).toMatchObject({ repository_probe_success: 0 });
  });
});

test("there is no metric of primary changes where Patroni has no valid count", () => {
  for (const annotations of [{}, { transitions: "many" }, { transitions: "-1" }] as Record<string, string>[])
    expect(told({ lock: lock(annotations) })).not.toHaveProperty("primary_changes_total");
});

describe("the time to Ready", () => {
  const notYet = conditions({ Ready: "False", Initialized: "False" });
  const almost = conditions({ Ready: "False", Initialized: "True" });
  const ready = conditions({ Ready: "True", Initialized: "True" });

  type Told = readonly [SampleDBStatus, Parameters<typeof sampleDB>[0]?];

  /** Passes the statuses one after the other, a minute after the creation. */
  function measured(steps: readonly Told[]): number[] {
    const took: number[] = [];
    const recorder = new TimeToReady({ duration: () => (seconds) => took.push(seconds) }, () => new Date("2026-01-01T00:01:00Z"));
    let before: SampleDBStatus | undefined;
    for (const [status, spec] of steps) {
      recorder.told(database(spec, {}, before), status);
      before = status;
    }
    return took;
  }

  test.each<[string, number[], readonly Told[]]>([
    ["is measured once", [60], [[notYet], [almost], [ready], [almost], [ready]]],
    ["is not measured for a SampleDB that was there before this process", [], [[ready], [almost], [ready]]],
    ["is not measured for a SampleDB that was paused meanwhile", [], [[notYet], [notYet, { paused: true }], [notYet], [ready]]],
    ["is not measured for a SampleDB that was hibernated meanwhile", [], [[notYet, { powerState: "Hibernated" }], [notYet], [ready]]],
  ])("%s", (_, expected, steps) => {
    expect(measured(steps)).toEqual(expected);
  });
});

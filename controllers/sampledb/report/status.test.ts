import { describe, expect, test } from "vitest";
import { sampleDBStatus } from "../../../api/sampledb-status.ts";
import { Occupied } from "../../../runtime/controller/objects.ts";
import { instance, primary } from "../../database/instance.fixture.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { PersistentVolumeClaim, StatefulSet } from "../../kinds/kubernetes.ts";
import { now, situation } from "../observations.fixture.ts";
import type { Findings } from "../scope.ts";
import { computeStatus } from "./status.ts";

type Situation = NonNullable<Parameters<typeof situation>[0]>;
const condition = (told: Situation, wanted: string) => computeStatus(situation(told)).conditions?.find(({ type }) => type === wanted);
const three = sampleDB({ replicas: 3 });
const down = { ready: false, problem: { reason: "ImagePullBackOff", message: "no such image" } };
const claim = (asked: string, there: string, name = "data-orders-0") =>
  new Map([
    [
      name,
      {
        metadata: { name },
        spec: { resources: { requests: { storage: asked } } },
        status: { phase: "Bound", capacity: { storage: there } },
      } as unknown as PersistentVolumeClaim,
    ],
  ]);

describe("Ready, and why not", () => {
  test.each<[string, Situation, "True" | "False", string, RegExp]>([
    ["all is well", {}, "True", "AllInstancesReady", /^1 of 1 instances answer SQL$/],
    ["nothing is there yet", { instances: [], observed: { initialized: false } }, "False", "Provisioning", /first instance/],
    ["nobody leads", { db: three, instances: [instance(0), instance(1)] }, "False", "NoPrimary", /elect a primary by themselves/],
    ["the primary does not answer", { instances: [primary(0, { ready: false })] }, "False", "NoPrimary", /orders-0 .* does not answer/],
    ["the Service does not lead to it", { instances: [primary(0, { takesWrites: false })] }, "False", "NoPrimary", /does not lead to it/],
    ["scripts run", { findings: { initialization: { kind: "running" } } }, "False", "Initializing", /being made/],
    [
      "a script failed",
      { findings: { initialization: { kind: "failed", message: "ERROR: x" } } },
      "False",
      "InitializationFailed",
      /ERROR: x/,
    ],
    ["a script is missing", { findings: { initialization: { kind: "missing", message: "no a/b" } } }, "False", "ScriptMissing", /no a\/b/],
    ["a change is tried", { findings: { trial: { kind: "running", asked: true } } }, "False", "ChangeOnTrial", /as they were/],
    [
      "a change is refused",
      { findings: { trial: { kind: "refused", asked: true, message: "FATAL: y" } } },
      "False",
      "ChangeRefused",
      /FATAL: y/,
    ],
    ["a rollout", { findings: { rollout: "makes the Pod of orders-1 anew" } }, "False", "RollingOut", /orders-1/],
    [
      "one is not ready",
      { db: three, instances: [primary(0), instance(1), instance(2, down)] },
      "False",
      "InstancesNotReady",
      /2 of 3 .*orders-2 \(ImagePullBackOff\)/,
    ],
    [
      "all answer, and none may take over",
      { db: three, instances: [primary(0), instance(1, { mayTakeOver: false }), instance(2, { mayTakeOver: false })] },
      "False",
      "NoFailoverCandidate",
      /orders-1 and orders-2 can't take over from orders-0/,
    ],
    [
      "one of two may take over",
      { db: three, instances: [primary(0), instance(1, { mayTakeOver: false }), instance(2)] },
      "False",
      "ReplicasBehind",
      /^orders-1 can't take over from orders-0 yet, and until then no instance is evicted/,
    ],
    ["one is not there", { db: three, instances: [primary(0), instance(1)] }, "False", "InstancesNotReady", /2 of 3/],
    [
      "one too many is going",
      { instances: [primary(0), instance(1, { ready: false, going: true })] },
      "False",
      "Scaling",
      /2 instances are there, and 1/,
    ],
    ["volumes grow", { observed: { claims: claim("2Gi", "1Gi") } }, "False", "Resizing", /data-orders-0/],
    [
      "a volume may not grow",
      { db: sampleDB({ storage: { size: "9Gi" } }), observed: { claims: claim("2Gi", "2Gi") } },
      "False",
      "Resizing",
      /to grow to 9Gi: data-orders-0/,
    ],
    [
      "a volume that nobody mounts does not grow",
      { observed: { claims: new Map([...claim("2Gi", "2Gi"), ...claim("2Gi", "1Gi", "data-orders-2")]) } },
      "True",
      "AllInstancesReady",
      /./,
    ],
    ["volumes have grown", { observed: { claims: claim("2Gi", "2048Mi") } }, "True", "AllInstancesReady", /./],
    ["an error", { errors: [new Error("quota exceeded")] }, "False", "ReconcileFailed", /quota exceeded/],
    [
      "a name is taken",
      { instances: [], errors: [new Occupied("Secret shop/orders-app is there already")] },
      "False",
      "NameTaken",
      /Secret shop\/orders-app .*rename or delete/,
    ],
    ["the spec is wrong", { findings: { invalid: "spec.x: no" } }, "False", "InvalidSpec", /spec\.x: no/],
    ["it falls asleep", { db: sampleDB({ powerState: "Hibernated" }) }, "False", "Hibernating", /1 instances are still stopping/],
    ["it sleeps", { db: sampleDB({ powerState: "Hibernated" }), instances: [] }, "False", "Hibernated", /powerState to Running/],
    ["it goes, data stays", { db: sampleDB({}, { deletionTimestamp: "x" }) }, "False", "Deleting", /orders-0 .*volumes and passwords stay/],
    [
      "it goes with its data",
      { db: sampleDB({ deletionPolicy: "Delete" }, { deletionTimestamp: "x" }) },
      "False",
      "Deleting",
      /are deleted/,
    ],
  ])("%s", (_, told, status, reason, message) => {
    expect(condition(told, "Ready")).toMatchObject({ status, reason, message: expect.stringMatching(message) });
  });

  test("what keeps applications from working is told before what does not", () => {
    const everything: Situation = { instances: [], findings: { rollout: "r", invalid: undefined }, errors: [new Error("e")] };
    expect(condition(everything, "Ready")?.reason).toBe("NoPrimary");
    expect(condition({ ...everything, db: sampleDB({ powerState: "Hibernated" }) }, "Ready")?.reason).toBe("Hibernated");
  });
});

describe("the other conditions", () => {
  test.each<[string, Situation, string, string, string]>([
    ["a primary", {}, "PrimaryAvailable", "True", "PrimaryAvailable"],
    ["no primary", { instances: [instance(0)] }, "PrimaryAvailable", "False", "NoPrimary"],
    ["asleep", { db: sampleDB({ powerState: "Hibernated" }), instances: [] }, "PrimaryAvailable", "False", "Hibernated"],
    ["made", {}, "Initialized", "True", "Initialized"],
    ["not made", { findings: { initialization: { kind: "waiting" } } }, "Initialized", "False", "Initializing"],
    ["as asked", {}, "UpToDate", "True", "UpToDate"],
    ["refused", { findings: { trial: { kind: "refused", asked: true, message: "" } } }, "UpToDate", "False", "ChangeRefused"],
  ])("%s", (_, told, type, status, reason) => expect(condition(told, type)).toMatchObject({ status, reason }));

  test.each<[Partial<Findings>, string]>([
    [{ trial: { kind: "running", asked: false } }, "ChangeOnTrial"],
    [{ trial: { kind: "refused", asked: false, message: "" } }, "ChangeRefused"],
  ])("what a newer operator tries concerns nobody else", (findings, reason) => {
    expect(condition({ findings }, "UpToDate")).toMatchObject({
      status: "False",
      reason,
      message: expect.stringMatching(/this version of the operator/),
    });
    expect(condition({ findings }, "Ready")).toMatchObject({ status: "True" });
  });

  test("Pods of an older make wait for a word; applications do not", () => {
    const statefulSet = { status: { updateRevision: "orders-2" } } as unknown as StatefulSet;
    const told = { instances: [primary(0, { revision: "orders-1" })], observed: { statefulSet } };
    expect(condition(told, "UpToDate")).toMatchObject({
      status: "False",
      reason: "RestartPending",
      message: expect.stringContaining("orders-0"),
    });
    expect(condition(told, "Ready")?.status).toBe("True");
  });

  test("so do settings that a newer operator has changed by itself", () => {
    const told = { instances: [primary(0, { heldSettings: ["max_wal_senders"] })] };
    expect(condition(told, "UpToDate")).toMatchObject({
      status: "False",
      reason: "RestartPending",
      message: expect.stringMatching(/^orders-0 \(max_wal_senders\) would be made differently by this version/),
    });
    expect(condition(told, "Ready")?.status).toBe("True");
  });

  test("backups are said not to be made, where they are asked for", () => {
    expect(condition({ db: sampleDB({ backup: {} }) }, "BackupConfigured")).toMatchObject({
      status: "False",
      reason: "NotSupportedByThisVersion",
    });
    expect(condition({}, "BackupConfigured")).toBeUndefined();
  });
});

describe("the status", () => {
  test("is what the schema allows, whatever is wrong", () => {
    const problem = { reason: "Odd", message: "x".repeat(9000) };
    const told = situation({
      db: three,
      instances: [0, 1, 2].map((ordinal) => instance(ordinal, { ready: false, problem, timeline: undefined, node: undefined })),
    });
    expect(() => sampleDBStatus.parse(computeStatus(told))).not.toThrow();
  });

  test("counts, names and roles", () => {
    const told = situation({ db: three, instances: [instance(0), primary(1), instance(2, { ready: false })], version: "17.5" });
    expect(computeStatus(told)).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 2,
      primaryPodName: "orders-1",
      postgresVersion: "17.5",
      appSecretName: "orders-app",
      services: { readWrite: "orders-rw", readOnly: "orders-ro" },
      selector: "sampledb.io/name=orders,sampledb.io/component=postgresql",
      instances: [{ role: "Replica" }, { role: "Primary" }, { role: "Replica", ready: false }],
    });
  });

  test("said again it is the same: times are kept while nothing changes", () => {
    const before = computeStatus(situation());
    const later = { ...situation({ db: { ...sampleDB(), status: before } }), now: () => new Date("2027-01-01T00:00:00Z") };
    expect(computeStatus(later)).toEqual(before);
    expect(before.conditions?.[0]?.lastTransitionTime).toBe("2026-05-04T03:02:01Z");
    expect(now().getMilliseconds()).not.toBe(0); // so that seconds alone are a choice
  });

  test("who led last and what version ran is told while nobody leads", () => {
    const db = { ...sampleDB(), status: computeStatus(situation({ version: "17.5" })) };
    expect(computeStatus(situation({ db, instances: [] }))).toMatchObject({ primaryPodName: "orders-0", postgresVersion: "17.5" });
  });
});

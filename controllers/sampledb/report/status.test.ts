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

describe("the condition Ready when", () => {
  test.each<[string, Situation, "True" | "False", string, RegExp]>([
    ["everything is healthy", {}, "True", "AllInstancesReady", /^1 of 1 instances answer SQL$/],
    ["nothing is there yet", { instances: [], observed: { initialized: false } }, "False", "Provisioning", /first instance/],
    ["no instance leads", { db: three, instances: [instance(0), instance(1)] }, "False", "NoPrimary", /elect a primary by themselves/],
    ["the primary does not answer", { instances: [primary(0, { ready: false })] }, "False", "NoPrimary", /orders-0 .* does not answer/],
    [
      "the read-write Service does not lead to the primary",
      { instances: [primary(0, { takesWrites: false })] },
      "False",
      "NoPrimary",
      /does not lead to it/,
    ],
    ["the init Job runs", { findings: { initialization: { kind: "running" } } }, "False", "Initializing", /being made/],
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
    ["a rollout goes on", { findings: { rollout: "makes the Pod of orders-1 anew" } }, "False", "RollingOut", /orders-1/],
    [
      "one instance is not ready",
      { db: three, instances: [primary(0), instance(1), instance(2, down)] },
      "False",
      "InstancesNotReady",
      /2 of 3 .*orders-2 \(ImagePullBackOff\)/,
    ],
    [
      "all instances answer, and no replica may take over",
      { db: three, instances: [primary(0), instance(1, { mayTakeOver: false }), instance(2, { mayTakeOver: false })] },
      "False",
      "NoFailoverCandidate",
      /orders-1 and orders-2 can't take over from orders-0/,
    ],
    [
      "one of two replicas may not take over",
      { db: three, instances: [primary(0), instance(1, { mayTakeOver: false }), instance(2)] },
      "False",
      "ReplicasBehind",
      /^orders-1 can't take over from orders-0 yet, and until then no instance is evicted/,
    ],
    ["one instance is missing", { db: three, instances: [primary(0), instance(1)] }, "False", "InstancesNotReady", /2 of 3/],
    [
      "an instance beyond replicas is being deleted",
      { instances: [primary(0), instance(1, { ready: false, going: true })] },
      "False",
      "Scaling",
      /2 instances are there, and 1/,
    ],
    ["volumes grow", { observed: { claims: claim("2Gi", "1Gi") } }, "False", "Resizing", /data-orders-0/],
    [
      "a volume was refused to grow",
      { db: sampleDB({ storage: { size: "9Gi" } }), observed: { claims: claim("2Gi", "2Gi") } },
      "False",
      "Resizing",
      /to grow to 9Gi: data-orders-0/,
    ],
    [
      "only the volume of an instance beyond replicas does not grow",
      { observed: { claims: new Map([...claim("2Gi", "2Gi"), ...claim("2Gi", "1Gi", "data-orders-2")]) } },
      "True",
      "AllInstancesReady",
      /./,
    ],
    ["volumes have grown", { observed: { claims: claim("2Gi", "2048Mi") } }, "True", "AllInstancesReady", /./],
    ["a step failed", { errors: [new Error("quota exceeded")] }, "False", "ReconcileFailed", /quota exceeded/],
    [
      "a stranger's object has a needed name",
      { instances: [], errors: [new Occupied("Secret shop/orders-app is there already")] },
      "False",
      "NameTaken",
      /Secret shop\/orders-app .*rename or delete/,
    ],
    ["the spec is invalid", { findings: { invalid: "spec.x: no" } }, "False", "InvalidSpec", /spec\.x: no/],
    [
      "the instances are stopping for hibernation",
      { db: sampleDB({ powerState: "Hibernated" }) },
      "False",
      "Hibernating",
      /1 instances are still stopping/,
    ],
    [
      "the database is hibernated",
      { db: sampleDB({ powerState: "Hibernated" }), instances: [] },
      "False",
      "Hibernated",
      /powerState to Running/,
    ],
    [
      "the SampleDB is being deleted and its data stays",
      { db: sampleDB({}, { deletionTimestamp: "x" }) },
      "False",
      "Deleting",
      /orders-0 .*volumes and passwords stay/,
    ],
    [
      "the SampleDB is being deleted with its data",
      { db: sampleDB({ deletionPolicy: "Delete" }, { deletionTimestamp: "x" }) },
      "False",
      "Deleting",
      /are deleted/,
    ],
  ])("%s", (_, told, status, reason, message) => {
    expect(condition(told, "Ready")).toMatchObject({ status, reason, message: expect.stringMatching(message) });
  });

  test("several checks find something names the trouble that applications notice first", () => {
    const everything: Situation = { instances: [], findings: { rollout: "r", invalid: undefined }, errors: [new Error("e")] };
    expect(condition(everything, "Ready")?.reason).toBe("NoPrimary");
    expect(condition({ ...everything, db: sampleDB({ powerState: "Hibernated" }) }, "Ready")?.reason).toBe("Hibernated");
  });
});

describe("the other conditions", () => {
  test.each<[string, Situation, string, string, string]>([
    ["PrimaryAvailable is True with a primary", {}, "PrimaryAvailable", "True", "PrimaryAvailable"],
    ["PrimaryAvailable is False without a primary", { instances: [instance(0)] }, "PrimaryAvailable", "False", "NoPrimary"],
    [
      "PrimaryAvailable is False in hibernation",
      { db: sampleDB({ powerState: "Hibernated" }), instances: [] },
      "PrimaryAvailable",
      "False",
      "Hibernated",
    ],
    ["Initialized is True after the init Job", {}, "Initialized", "True", "Initialized"],
    [
      "Initialized is False before the init Job has ended",
      { findings: { initialization: { kind: "waiting" } } },
      "Initialized",
      "False",
      "Initializing",
    ],
    ["UpToDate is True when every instance is as asked", {}, "UpToDate", "True", "UpToDate"],
    [
      "UpToDate is False when a change was refused",
      { findings: { trial: { kind: "refused", asked: true, message: "" } } },
      "UpToDate",
      "False",
      "ChangeRefused",
    ],
  ])("%s", (_, told, type, status, reason) => expect(condition(told, type)).toMatchObject({ status, reason }));

  test.each<[Partial<Findings>, string]>([
    [{ trial: { kind: "running", asked: false } }, "ChangeOnTrial"],
    [{ trial: { kind: "refused", asked: false, message: "" } }, "ChangeRefused"],
  ])("the trial of a newer operator's own change makes UpToDate False, and leaves Ready True", (findings, reason) => {
    expect(condition({ findings }, "UpToDate")).toMatchObject({
      status: "False",
      reason,
      message: expect.stringMatching(/this version of the operator/),
    });
    expect(condition({ findings }, "Ready")).toMatchObject({ status: "True" });
  });

  test("Pods of an older template make UpToDate False until the user restarts them, and leave Ready True", () => {
    const statefulSet = { status: { updateRevision: "orders-2" } } as unknown as StatefulSet;
    const told = { instances: [primary(0, { revision: "orders-1" })], observed: { statefulSet } };
    expect(condition(told, "UpToDate")).toMatchObject({
      status: "False",
      reason: "RestartPending",
      message: expect.stringContaining("orders-0"),
    });
    expect(condition(told, "Ready")?.status).toBe("True");
  });

  test("held settings make UpToDate False until the user restarts the instances, and leave Ready True", () => {
    const told = { instances: [primary(0, { heldSettings: ["max_wal_senders"] })] };
    expect(condition(told, "UpToDate")).toMatchObject({
      status: "False",
      reason: "RestartPending",
      message: expect.stringMatching(/^orders-0 \(max_wal_senders\) would be made differently by this version/),
    });
    expect(condition(told, "Ready")?.status).toBe("True");
  });
});

describe("the status", () => {
  test("is valid by its schema, even with problems of 9000 characters", () => {
    const problem = { reason: "Odd", message: "x".repeat(9000) };
    const told = situation({
      db: three,
      instances: [0, 1, 2].map((ordinal) => instance(ordinal, { ready: false, problem, timeline: undefined, node: undefined })),
    });
    expect(() => sampleDBStatus.parse(computeStatus(told))).not.toThrow();
  });

  test("has counts, names and roles", () => {
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

  test("is the same when it is computed again: times stay while nothing changes", () => {
    const before = computeStatus(situation());
    const later = { ...situation({ db: { ...sampleDB(), status: before } }), now: () => new Date("2027-01-01T00:00:00Z") };
    expect(computeStatus(later)).toEqual(before);
    expect(before.conditions?.[0]?.lastTransitionTime).toBe("2026-05-04T03:02:01Z");
    expect(now().getMilliseconds()).not.toBe(0); // so that seconds alone are a choice
  });

  test("keeps the last primary and its version while no instance leads", () => {
    const db = { ...sampleDB(), status: computeStatus(situation({ version: "17.5" })) };
    expect(computeStatus(situation({ db, instances: [] }))).toMatchObject({ primaryPodName: "orders-0", postgresVersion: "17.5" });
  });
});

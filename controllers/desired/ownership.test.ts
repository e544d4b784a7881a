// Which objects go with a SampleDB, and which are kept.
import { expect, test } from "vitest";
import { childrenOf, secretsOf } from "./children.fixture.ts";
import { disruptionBudget } from "./policies.ts";
import { sampleDB } from "./sampledb.fixture.ts";

const db = sampleDB({ replicas: 2 });
const outlives = new Set(["ConfigMap orders-config", "ConfigMap orders-leader", "ConfigMap orders-failover", "ConfigMap orders-sync"]);

test.each([...childrenOf(db), ...secretsOf(db)].map((object) => [`${object.kind} ${object.metadata.name}`, object] as const))(
  "%s is owned or kept as designed, and has the labels of its database",
  (what, { kind, metadata: { labels, ownerReferences } }) => {
    const kept = outlives.has(what) || kind === "PersistentVolumeClaim" || kind === "Secret";
    const owner = { kind: "SampleDB", name: "orders", uid: "uid-of-orders", controller: true };
    expect(ownerReferences ?? []).toEqual(kept ? [] : [expect.objectContaining(owner)]);
    expect(labels).toMatchObject({ "app.kubernetes.io/managed-by": "sampledb-operator", "sampledb.io/name": "orders" });
  },
);

test("a single instance has no disruption budget, which would block a drain for ever", () => {
  expect(disruptionBudget(sampleDB({ replicas: 1 }), { prepared: true })).toBeUndefined();
  expect(disruptionBudget(sampleDB({ replicas: 1 }), { prepared: false })).toBeUndefined();
  expect(disruptionBudget(sampleDB({ replicas: 2 }), { prepared: true })?.spec).toMatchObject({ maxUnavailable: 1 });
  expect(disruptionBudget(sampleDB({ replicas: 2 }), { prepared: false })?.spec).toMatchObject({ maxUnavailable: 0 });
});

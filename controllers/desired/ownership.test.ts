// What goes with a SampleDB, and what outlives it.
import { expect, test } from "vitest";
import { childrenOf, secretsOf } from "./children.fixture.ts";
import { sampleDB } from "./sampledb.fixture.ts";

const db = sampleDB({ replicas: 2 });
const outlives = new Set(["ConfigMap orders-config", "ConfigMap orders-leader", "ConfigMap orders-failover", "ConfigMap orders-sync"]);

test.each([...childrenOf(db), ...secretsOf(db)].map((object) => [`${object.kind} ${object.metadata.name}`, object] as const))(
  "%s",
  (what, { kind, metadata: { labels, ownerReferences } }) => {
    const kept = outlives.has(what) || kind === "PersistentVolumeClaim" || kind === "Secret";
    const owner = { kind: "SampleDB", name: "orders", uid: "uid-of-orders", controller: true };
    expect(ownerReferences ?? []).toEqual(kept ? [] : [expect.objectContaining(owner)]);
    expect(labels).toMatchObject({ "app.kubernetes.io/managed-by": "sampledb-operator", "sampledb.io/name": "orders" });
  },
);

test("a single instance has no disruption budget, which would hold up a drain for ever", () => {
  const kinds = (replicas: number) => childrenOf(sampleDB({ replicas })).filter(({ kind }) => kind === "PodDisruptionBudget");
  expect(kinds(1)).toEqual([]);
  expect(kinds(2)).toMatchObject([{ spec: { maxUnavailable: 1 } }]);
});

import { expect, test } from "vitest";
import { cacheOf } from "./cache.fixture.ts";
import { claim } from "./desired/instances.ts";
import { sampleDB } from "./desired/sampledb.fixture.ts";
import { type PersistentVolumeClaim, persistentVolumeClaims } from "./kinds/kubernetes.ts";
import { byDatabase } from "./watches.ts";

function named(name: string, labels: Record<string, string> = {}): PersistentVolumeClaim {
  const data = claim(sampleDB(), 0);
  return { ...data, metadata: { ...data.metadata, name, labels: { ...data.metadata.labels, ...labels } } };
}

test.each<[string, PersistentVolumeClaim, boolean]>([
  ["the claim of an instance is data", claim(sampleDB(), 2), true],
  ["a claim of another component is no data", named("data-orders-0", { "sampledb.io/component": "repository" }), false],
  ["a repository's claim is no data", named("orders-repository", { "sampledb.io/component": "repository" }), false],
  ["a claim without an ordinal is no data, whatever its labels say", named("orders-repository"), false],
  ["a claim with the name of another database is no data, whatever its labels say", named("data-others-0"), false],
])("%s", (_, candidate, isData) => {
  const found = cacheOf(candidate).watched(persistentVolumeClaims).listBy(byDatabase, "shop/orders");
  expect(found).toEqual(isData ? [candidate] : []);
});

// Which changes cause a reconcile, and of which objects.
import { describe, expect, test } from "vitest";
import type { Change } from "../cache/store.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../kube/object.ts";
import { clusterScoped, namespaced } from "../kube/resource.ts";
import { ControllerBuilder } from "./builder.ts";
import { allOf, annotationsChanged, anyOf, generationChanged, labelsChanged, type Predicate } from "./predicates.ts";
import { awaitChange } from "./result.ts";

function object(metadata: Partial<ObjectMeta>): KubeObject {
  return { apiVersion: "v1", kind: "Thing", metadata: { name: "x", namespace: "n", uid: "1", ...metadata } };
}

const changed = (previous: Partial<ObjectMeta>, now: Partial<ObjectMeta>): Change => ({
  type: "changed",
  object: object(now),
  previous: object(previous),
});
const added: Change = { type: "added", object: object({}), initial: false };
const removed: Change = { type: "removed", object: object({}) };
const never: Predicate = () => false;
const always: Predicate = () => true;

describe.each<[string, Predicate, Change, boolean]>([
  ["added", generationChanged, added, true],
  ["removed", labelsChanged, removed, true],
  ["spec edited", generationChanged, changed({ generation: 1 }, { generation: 2 }), true],
  ["deletion asked for", generationChanged, changed({ generation: 1 }, { generation: 1, deletionTimestamp: "t" }), true],
  ["status alone", generationChanged, changed({ generation: 1, resourceVersion: "1" }, { generation: 1, resourceVersion: "2" }), false],
  ["another object under the same name", generationChanged, changed({ generation: 1 }, { generation: 1, uid: "2" }), true],
  ["another object under the same name", labelsChanged, changed({}, { uid: "2" }), true],
  ["label added", labelsChanged, changed({}, { labels: { a: "1" } }), true],
  ["label taken off", labelsChanged, changed({ labels: { a: "1" } }, {}), true],
  ["label changed", labelsChanged, changed({ labels: { a: "1" } }, { labels: { a: "2" } }), true],
  ["label renamed", labelsChanged, changed({ labels: { a: "1" } }, { labels: { b: "1" } }), true],
  ["labels as before", labelsChanged, changed({ labels: { a: "1", b: "2" } }, { labels: { b: "2", a: "1" } }), false],
  ["annotation added", labelsChanged, changed({}, { annotations: { a: "1" } }), false],
  ["annotation added", annotationsChanged, changed({}, { annotations: { a: "1" } }), true],
  ["anyOf with one that holds", anyOf(never, always), added, true],
  ["anyOf with none that holds", anyOf(never, never), added, false],
  ["allOf with one that holds", allOf(never, always), added, false],
  ["allOf with all that hold", allOf(always, always), added, true],
])("a change: %s", (_, predicate, change, expected) => {
  test(`${expected ? "causes" : "does not cause"} a reconcile`, () => expect(predicate(change)).toBe(expected));
});

describe("a change concerns", () => {
  const sites = namespaced("test.io/v1", "Site", "sites");
  const things = namespaced("v1", "Thing", "things");
  const owner = (fields: Partial<OwnerReference> = {}): Partial<ObjectMeta> => ({
    ownerReferences: [{ apiVersion: "test.io/v1", kind: "Site", name: "site", uid: "1", controller: true, ...fields }],
  });
  const site = { namespace: "n", name: "site" };
  const concerned = (change: Change, of = sites, predicate?: Predicate) => {
    const definition = ControllerBuilder.for("test", of)
      .owns(things, predicate)
      .reconcile(async () => awaitChange);
    return definition.sources[1]?.concerned(change);
  };

  test.each<[string, Partial<ObjectMeta>, unknown[]]>([
    ["its controller", owner(), [site]],
    ["its controller in another version of the group", owner({ apiVersion: "test.io/v2" }), [site]],
    ["not one of another group", owner({ apiVersion: "other.io/v1" }), []],
    ["not one of the core group", owner({ apiVersion: "v1" }), []],
    ["not one of another kind", owner({ kind: "Page" }), []],
    ["not an owner that controls nothing", owner({ controller: false }), []],
    ["no object without an owner", {}, []],
  ])("%s", (_, metadata, keys) => {
    expect(concerned({ type: "added", object: object(metadata), initial: false })).toEqual(keys);
    expect(concerned({ type: "removed", object: object(metadata) })).toEqual(keys);
  });

  test("a cluster-scoped owner, without a namespace", () => {
    const change: Change = { type: "added", object: object(owner()), initial: false };
    expect(concerned(change, clusterScoped("test.io/v1", "Site", "sites"))).toEqual([{ namespace: "", name: "site" }]);
  });

  test("both owners of an object that changed hands, and the old owner of an object that was let go", () => {
    const other = owner({ name: "other", uid: "2" });
    expect(concerned(changed(owner(), other))).toEqual([{ namespace: "n", name: "other" }, site]);
    expect(concerned(changed(owner(), {}))).toEqual([site]);
  });

  test("no object when the predicate refuses it", () => {
    expect(concerned(changed(owner(), owner()), sites, never)).toEqual([]);
  });

  test("the object itself, and the keys that the definition names", () => {
    const definition = ControllerBuilder.for("test", sites, generationChanged)
      .watches(things, ({ metadata }) => [{ namespace: "elsewhere", name: metadata.name }])
      .reconcile(async () => awaitChange, { maxConcurrentReconciles: 3 });
    const [own, watched] = definition.sources;
    expect(own?.concerned(changed({ generation: 1 }, { generation: 1 }))).toEqual([]);
    expect(own?.concerned(removed)).toEqual([{ namespace: "n", name: "x" }]);
    expect(watched?.concerned(added)).toEqual([{ namespace: "elsewhere", name: "x" }]);
    expect(definition).toMatchObject({ name: "test", resource: sites, maxConcurrentReconciles: 3, timeoutSeconds: 120 });
  });
});

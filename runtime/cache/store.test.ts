import { describe, expect, test } from "vitest";
import { byField } from "./indexes.ts";
import { Store } from "./store.ts";
import { type Thing, thing, versionsOf } from "./thing.fixture.ts";

const key = { namespace: "default", name: "a" };

function store(options: Partial<ConstructorParameters<typeof Store<Thing>>[0]> = {}) {
  return new Store<Thing>({ now: () => 0, ...options });
}

describe("a store and its watch:", () => {
  test("added, changed and removed are reported against the state before", () => {
    const things = store();
    const [first, second] = [thing("a"), thing("a", { version: 2 })];
    const last = thing("a", { version: 3 });
    expect(things.put(first, true)).toEqual({ type: "added", object: first, initial: true });
    expect(things.put(second, false)).toEqual({ type: "changed", object: second, previous: first });
    expect(things.get(key)).toBe(second);
    expect(things.remove(last)).toEqual({ type: "removed", object: last });
    expect([things.get(key), things.size, things.list()]).toEqual([undefined, 0, []]);
  });

  test("a known version is no change, and readers keep the same object", () => {
    const things = store();
    const first = thing("a");
    things.put(first, true);
    expect(things.put(thing("a"), false)).toBeUndefined();
    expect(things.get(key)).toBe(first);
  });

  test("a known version under another uid is a change", () => {
    const things = store();
    things.put(thing("a"), true);
    expect(things.put(thing("a", { uid: "another" }), false)).toMatchObject({ type: "changed" });
  });

  test("the removal of an unknown object is no change", () => {
    expect(store().remove(thing("a"))).toBeUndefined();
  });

  test("list returns the objects of one namespace, or all", () => {
    const things = store();
    for (const namespace of ["one", "two", "one-more"]) things.put(thing("a", { namespace }), true);
    const found = (namespace?: string) => things.list(namespace).map(({ metadata }) => metadata.namespace);
    expect([found("one"), found("three"), found()]).toEqual([["one"], [], ["one", "two", "one-more"]]);
  });
});

describe("a list in a store", () => {
  const held = () => {
    const things = store({ indexes: { color: byField<Thing>(({ spec }) => spec?.color) } });
    for (const name of ["a", "b", "c"]) things.put(thing(name, { namespace: "one", color: "red" }), true);
    things.put(thing("a", { namespace: "two", color: "red" }), true);
    things.put(thing("z", { namespace: "one-more", color: "red" }), true);
    return things;
  };
  const take = (things: Store<Thing>, namespace: string | undefined, objects: Thing[]) => {
    const list = things.beginList(namespace);
    const changes = objects.map((object) => {
      list.seen(object);
      return things.put(object, false)?.type;
    });
    return { changes, gone: list.end("9").map(({ type, object }) => `${type} ${object.metadata.namespace}/${object.metadata.name}`) };
  };

  test("removes missing objects in its own namespace only, also from the indexes", () => {
    const things = held();
    const brought = [thing("b", { namespace: "one", version: 1 }), thing("c", { namespace: "one", version: 5 })];
    expect(take(things, "one", brought)).toEqual({ changes: [undefined, "changed"], gone: ["removed one/a"] });
    expect(versionsOf(things.listBy("color", "red"))).toEqual(["a@1", "b@1", "z@1"]);
    expect(things.size).toBe(4);
  });

  test.each([undefined, ""])("of all namespaces (%j) removes in all", (namespace) => {
    const things = held();
    expect(take(things, namespace, [thing("z", { namespace: "one-more" })]).gone).toEqual([
      "removed one/a",
      "removed one/b",
      "removed one/c",
      "removed two/a",
    ]);
    expect(things.size).toBe(1);
  });

  test("that never ends removes nothing", () => {
    const things = held();
    const list = things.beginList(undefined);
    list.seen(thing("b", { namespace: "one" }));
    expect(things.size).toBe(5);
  });
});

describe("a stored object", () => {
  const managed = (name: string, version = 1) => {
    const object = thing(name, { version, color: "red" });
    return { ...object, metadata: { ...object.metadata, managedFields: [{ manager: "x" }] } };
  };

  test("has no managedFields, whatever brought it, and is trimmed", () => {
    const things = store({ trim: ({ spec: _, ...rest }) => rest });
    const told = [things.put(managed("a"), true), things.put(managed("a", 2), false)];
    things.beginWrite(key).settled(managed("a", 3));
    const objects = [things.get(key), ...told.map((change) => change?.object), things.remove(managed("a", 4))?.object];
    expect(objects.map((object) => object?.metadata.resourceVersion)).toEqual(["3", "1", "2", "4"]);
    for (const object of objects) expect(JSON.stringify(object)).not.toMatch(/managedFields|spec/);
  });

  test("is a copy of the answer to a write, which its caller owns", () => {
    const answer = managed("a");
    store().beginWrite(key).settled(answer);
    expect(answer).toEqual(managed("a"));
  });
});

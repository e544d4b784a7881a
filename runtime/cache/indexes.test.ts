import { expect, test } from "vitest";
import { byController, byField, byLabel, Index } from "./indexes.ts";
import { Store } from "./store.ts";
import { type Thing, thing, versionsOf } from "./thing.fixture.ts";

function store() {
  const indexes = {
    owner: byController,
    tier: byLabel("tier"),
    color: byField<Thing>(({ spec }) => spec?.color),
    letters: ({ metadata }: Thing) => [...metadata.name],
  };
  return new Store<Thing>({ indexes, now: () => 0 });
}

test("objects are found by owner, label, field and several values; objects without a value are not", () => {
  const things = store();
  things.put(thing("a", { owner: "o1", labels: { tier: "db" }, color: "red" }), true);
  things.put(thing("b", { owner: "o1", labels: { tier: "web" }, color: "red" }), true);
  things.put(thing("ab"), true);
  const found = (index: string, value: string) => versionsOf(things.listBy(index, value)).map((text) => text.split("@")[0]);
  expect(found("owner", "o1")).toEqual(["a", "b"]);
  expect(found("tier", "db")).toEqual(["a"]);
  expect(found("color", "red")).toEqual(["a", "b"]);
  expect(found("letters", "b")).toEqual(["ab", "b"]);
  for (const [index, value] of [
    ["owner", "o2"],
    ["owner", ""],
    ["tier", "undefined"],
    ["color", ""],
  ] as const) {
    expect(found(index, value)).toEqual([]);
  }
});

test("an owner that is not the controller does not count", () => {
  const things = store();
  const { metadata, ...rest } = thing("a", { owner: "o1" });
  const references = (metadata.ownerReferences ?? []).map((reference) => ({ ...reference, controller: false }));
  things.put({ ...rest, metadata: { ...metadata, ownerReferences: references } }, true);
  expect(things.listBy("owner", "o1")).toEqual([]);
});

test("an object whose value changed is found under the new value only", () => {
  const things = store();
  for (const name of ["a", "b", "c"]) things.put(thing(name, { color: "red" }), true);
  things.put(thing("b", { version: 2, color: "blue" }), false);
  expect(versionsOf(things.listBy("color", "red"))).toEqual(["a@1", "c@1"]);
  expect(versionsOf(things.listBy("color", "blue"))).toEqual(["b@2"]);
  things.put(thing("b", { version: 3 }), false);
  expect(things.listBy("color", "blue")).toEqual([]);
});

test("an index keeps nothing of values that no object has", () => {
  const index = new Index<Thing>(byField(({ spec }) => spec?.color));
  const [red, blue] = [thing("a", { color: "red" }), thing("a", { color: "blue" })];
  const kept = (value: string) => [...index.keys(value)];
  index.update("default/a", undefined, red);
  index.update("default/b", undefined, red);
  index.update("default/a", red, blue);
  expect([kept("red"), kept("blue")]).toEqual([["default/b"], ["default/a"]]);
  index.update("default/a", blue, undefined);
  index.update("default/b", red, undefined);
  expect([kept("red"), kept("blue")]).toEqual([[], []]);
});

test("of an object with the same value in a new version, the new version is found, once", () => {
  const things = store();
  things.put(thing("a", { color: "red" }), true);
  things.put(thing("a", { version: 2, color: "red" }), false);
  expect(versionsOf(things.listBy("color", "red"))).toEqual(["a@2"]);
});

test("when one of several objects with a value goes, the others are still found", () => {
  const things = store();
  for (const name of ["a", "b", "c"]) things.put(thing(name, { color: "red" }), true);
  const left = ["b", "a", "c"].map((name) => {
    things.remove(thing(name, { version: 9 }));
    return versionsOf(things.listBy("color", "red"));
  });
  expect(left).toEqual([["a@1", "c@1"], ["c@1"], []]);
});

test("objects of one name in two namespaces are two", () => {
  const things = store();
  for (const namespace of ["one", "two"]) things.put(thing("a", { namespace, color: "red" }), true);
  things.remove(thing("a", { namespace: "one" }));
  expect(things.listBy("color", "red").map(({ metadata }) => metadata.namespace)).toEqual(["two"]);
});

test("an unknown index is an error whose message names the existing indexes", () => {
  expect(() => store().listBy("size", "big")).toThrow("there is no index size: there are owner, tier, color, letters");
  expect(() => new Store<Thing>({ now: () => 0 }).listBy("size", "big")).toThrow("there are none");
});

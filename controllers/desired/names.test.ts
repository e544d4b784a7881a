import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { childrenOf, secretsOf } from "./children.fixture.ts";
import { claimName, mostInstances, namesOf, ordinalOf, podName } from "./names.ts";
import { sampleDB } from "./sampledb.fixture.ts";

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const podNames = (name: string) => Array.from({ length: mostInstances }, (_, ordinal) => `Pod ${podName(sampleDB({}, { name }), ordinal)}`);

/** Kind, namespace and name of every object of a SampleDB of that name. */
function places(name: string): string[] {
  const db = sampleDB({ replicas: 3 }, { name });
  const objects = [...childrenOf(db), ...secretsOf(db)];
  return [...objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`), ...podNames(name)];
}

describe("the names of a SampleDB's objects", () => {
  const longest = `a${"b".repeat(38)}c`;

  test.each(["a", "orders", "a-1", longest])("are valid for %s, and no two the same", (name) => {
    const db = sampleDB({ replicas: 3 }, { name });
    for (const { metadata } of childrenOf(db)) {
      expect(metadata.name).toMatch(label);
      expect(metadata.name.length).toBeLessThanOrEqual(63);
      for (const value of Object.values(metadata.labels ?? {})) expect(value).toMatch(/^[a-zA-Z0-9]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?$/);
    }
    for (const { metadata } of secretsOf(db)) expect(metadata.name.length).toBeLessThanOrEqual(253);
    // The StatefulSet controller puts its name and a hash of ten characters into a label.
    expect(namesOf(db).statefulSet.length + 11).toBeLessThanOrEqual(63);
    expect(new Set(places(name)).size).toBe(places(name).length);
  });

  const suffixes = Object.values(namesOf({ metadata: { name: "" } })).filter((suffix) => suffix !== "");
  const near = ["foo", ...suffixes.map((suffix) => `foo${suffix}`), "foo-0", "foo-1", "data-foo", "data-foo-0", "authority"];

  test("are no names of another SampleDB's objects, even if one name begins with the other", () => {
    const all = near.flatMap((name) => places(name).map((place) => ({ place, name })));
    const owners = new Map<string, string>();
    for (const { place, name } of all) {
      expect(owners.get(place) ?? name, place).toBe(name);
      owners.set(place, name);
    }
  });

  test("are no names of another SampleDB's objects, for random names that begin the same", () => {
    const word = fc.constantFrom("foo", "a", "0", "1", "data", "rw", "app", "init", "trial", "config", "leader", "pods", "authority");
    const base = fc.constantFrom("foo", "a", "data", "data-foo", "foo-trial", "foo-0");
    fc.assert(
      fc.property(base, fc.array(word, { minLength: 1, maxLength: 2 }), (one, more) => {
        const taken = new Set(places(one));
        expect(places([one, ...more].join("-")).filter((place) => taken.has(place))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ["orders-0", 0],
  ["data-orders-12", 12],
  ["foo-1-2", 2],
  ["orders", Number.NaN],
  ["orders-x", Number.NaN],
  ["orders-1x", Number.NaN],
  ["", Number.NaN],
])("the ordinal of %j is %j", (name, ordinal) => expect(ordinalOf(name)).toBe(ordinal));

test("a claim's name is template, StatefulSet and ordinal, as the StatefulSet controller makes it", () => {
  const db = sampleDB();
  expect(claimName(db, 4)).toBe(`data-${namesOf(db).statefulSet}-4`);
});

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { badBackups } from "../bad-specs/backup.ts";
import { type BadSpec, type Fields, merged, type Value } from "../bad-specs/bad-spec.ts";
import * as valid from "../bad-specs/bases.ts";
import { badRestores } from "../bad-specs/restore.ts";
import { badSampleDBs } from "../bad-specs/sampledb.ts";
import { badBackupSettings } from "../bad-specs/sampledb-backup.ts";
import { badSettings } from "../bad-specs/settings.ts";
import { arbitraryValue, mutated } from "../crd/arbitrary.ts";
import { structuralSchema } from "../crd/structural-schema.ts";
import { type Kind, kinds } from "../kinds.ts";
import type { RestoreSpec } from "../restore.ts";
import type { SampleDBSpec } from "../sampledb.ts";
import { withinBounds } from "./bounds.ts";
import { checkRestore } from "./restore.ts";
import { checkSampleDB } from "./sampledb.ts";
import type { Violation } from "./violation.ts";
import { sampleDB } from "./violation-table.ts";

/** What breaks the bounds of the kind. */
function breachesOf({ spec }: Kind): (value: unknown) => Violation[] {
  const check = withinBounds<unknown>(spec, () => []);
  return (value) => [...check(value, "spec")];
}

const tables: Readonly<Record<string, readonly [base: Fields, bad: readonly BadSpec[]]>> = {
  SampleDB: [valid.sampleDB, [...badSampleDBs, ...badSettings, ...badBackupSettings]],
  Backup: [valid.backup, badBackups],
  Restore: [valid.restore, badRestores],
};

/** How the API server says that a bound is broken. */
const ofBounds = /may not be more than|must have at most|must be of type/;

describe.each(kinds.map((kind) => [kind.kind, kind] as const))("%s", (name, kind) => {
  const specs = arbitraryValue(structuralSchema(kind.spec));
  const breaches = breachesOf(kind);
  const [base, bad] = tables[name] ?? [{}, []];
  const broken = bad.filter(([, , field, allowed]) => field.startsWith("spec.") && ofBounds.test(allowed.source));

  test("values that the schema allows are within the bounds", () => {
    fc.assert(
      fc.property(specs, (spec) => {
        fc.pre(kind.spec.safeParse(spec).success);
        expect(breaches(spec)).toEqual([]);
      }),
    );
  }, 60_000); // takes a second on a machine that is not busy

  test("values that break the bounds are refused by the schema as well", () => {
    fc.assert(
      fc.property(
        specs.chain((spec) => mutated(spec)),
        (spec) => {
          if (breaches(spec).length > 0) expect(kind.spec.safeParse(spec).success).toBe(false);
        },
      ),
      { numRuns: 200 },
    );
  }, 60_000);

  test.runIf(broken.length > 0).each(broken)("%s breaks the bounds", (_, change, field) => {
    const [violation] = breaches((merged(base, change) as Record<string, Value>)["spec"]);
    // The API server names an entry of a map as `.key` where the schema refuses it.
    expect(violation?.field.replace(/\[([^\d][^\]]*)\]/, ".$1")).toBe(field);
  });
});

test.each<readonly [string, object, object | undefined]>([
  ["the longest value", { postgresql: { parameters: { search_path: "x".repeat(2048) } } }, undefined],
  [
    "the longest value of characters that JavaScript counts twice",
    { postgresql: { parameters: { search_path: "😀".repeat(2048) } } },
    undefined,
  ],
  [
    "a character more",
    { postgresql: { parameters: { search_path: `${"😀".repeat(2048)}x` } } },
    { field: "spec.postgresql.parameters[search_path]", message: "has 4097 characters; at most 2048 are allowed" },
  ],
  [
    "65 lines",
    { postgresql: { hba: Array(65).fill("") } },
    { field: "spec.postgresql.hba", message: "has 65 entries; at most 64 are allowed" },
  ],
  ["another major", { postgresVersion: 16 }, { field: "spec.postgresVersion", message: "16 is not allowed; allowed are 15, 17" }],
  ["ten replicas", { replicas: 10 }, { field: "spec.replicas", message: "10 is out of range; allowed are 1 to 9" }],
  ["null for a field with a default", { replicas: null }, undefined],
  ["null for one without", { storage: null }, { field: "spec.storage", message: "is missing, and has no default" }],
  ["a field that the schema does not have", { unknown: "x".repeat(100_000) }, undefined],
  [
    "a long key",
    { nodeSelector: { ["a".repeat(100_000)]: 1 } },
    { field: `spec.nodeSelector[${"a".repeat(317)}…]`, message: "must be a string" },
  ],
])("%s", (_, fields, violation) => {
  const spec = { ...sampleDB({}), ...fields } as SampleDBSpec;
  expect(checkSampleDB(spec)).toEqual(violation === undefined ? [] : [violation]);
});

test("whatever is sent in place of a spec, the checks come to an end", () => {
  const [sampleDBSpecs, restoreSpecs] = ["SampleDB", "Restore"].map((name) => {
    const kind = kinds.find((each) => each.kind === name);
    if (!kind) throw new Error(`there is no kind ${name}`);
    return arbitraryValue(structuralSchema(kind.spec)).chain((spec) => mutated(spec));
  });
  const strange = fc.oneof(fc.jsonValue(), sampleDBSpecs ?? fc.constant({}), restoreSpecs ?? fc.constant({}));
  fc.assert(
    fc.property(strange, (spec) => {
      expect(Array.isArray(checkSampleDB(spec as SampleDBSpec))).toBe(true);
      expect(Array.isArray(checkRestore(spec as RestoreSpec))).toBe(true);
    }),
    { numRuns: 200 },
  );
}, 60_000);

test("a check is not asked about a value outside of the bounds", () => {
  const [kind] = kinds;
  if (!kind) throw new Error("there is no kind");
  const check = withinBounds<unknown>(kind.spec, () => [{ field: "spec", message: "asked" }]);
  expect([...check({ postgresVersion: 17, storage: { size: "1Gi" } }, "spec")]).toEqual([{ field: "spec", message: "asked" }]);
  expect([...check({ postgresVersion: 17, storage: { size: "1".repeat(33) } }, "spec")]).toEqual([
    { field: "spec.storage.size", message: "has 33 characters; at most 32 are allowed" },
  ]);
});

// For tests of checks: SampleDBs as the API server leaves them, and tables of what is wrong with them.
import { describe, expect, test } from "vitest";
import { type SampleDBSpec, sampleDBSpec } from "../sampledb.ts";
import { checkSampleDB } from "./sampledb.ts";

/** By topic: fields beside the minimal ones, the place of the one violation, and a part of its message. */
export type ViolationTable = Readonly<Record<string, readonly (readonly [fields: object, field: string, message: string])[]>>;

/** Through the schema, with its defaults. */
export function sampleDB(fields: object): SampleDBSpec {
  return sampleDBSpec.parse({ postgresVersion: 17, storage: { size: "1Gi" }, ...fields });
}

export function spread(...constraints: object[]): object {
  const usual = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };
  return { topologySpreadConstraints: constraints.map((constraint) => ({ ...usual, ...constraint })) };
}

/** A test for each row: exactly that violation, and no other. */
export function testViolations(table: ViolationTable): void {
  describe.each(Object.entries(table))("%s", (_, rows) => {
    test.each(rows.map(([fields, field, message]) => [field.slice(0, 120), message, fields, field] as const))(
      "%s: %s",
      (_, message, fields, field) => {
        expect(checkSampleDB(sampleDB(fields))).toEqual([{ field, message: expect.stringContaining(message) }]);
      },
    );
  });
}

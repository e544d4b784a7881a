// Generators for property tests: objects that a structural schema allows, and the same with one change.
import * as fc from "fast-check";
import type { Schema } from "./structural-schema.ts";

/** Values that match the schema, with optional fields left out now and then. */
export function arbitraryValue(schema: Schema): fc.Arbitrary<unknown> {
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  if (schema["x-kubernetes-int-or-string"]) return fc.oneof(fc.nat(1_000_000), arbitraryText({ ...schema, type: "string" }));
  switch (schema["type"]) {
    case "object":
      return arbitraryObject(schema);
    case "array":
      return arbitraryList(schema);
    case "string":
      return arbitraryText(schema);
    case "integer":
      return fc.integer({ min: (schema["minimum"] as number) ?? 0, max: (schema["maximum"] as number) ?? 2 ** 40 });
    case "boolean":
      return fc.boolean();
    default:
      throw new Error(`no values are made for the type ${schema["type"]}`);
  }
}

function arbitraryObject(schema: Schema): fc.Arbitrary<unknown> {
  const values = schema["additionalProperties"] as Schema | undefined;
  if (values) return fc.dictionary(fc.stringMatching(/^[a-z]{1,12}$/), arbitraryValue(values), { maxKeys: 3, noNullPrototype: true });
  const fields = Object.entries((schema["properties"] as Record<string, Schema> | undefined) ?? {});
  const requiredKeys = (schema["required"] as string[] | undefined) ?? [];
  return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, arbitraryValue(field)])), {
    requiredKeys,
    noNullPrototype: true,
  });
}

function arbitraryList(schema: Schema): fc.Arbitrary<unknown> {
  const limits = { minLength: (schema["minItems"] as number) ?? 0, maxLength: Math.min((schema["maxItems"] as number) ?? 3, 3) };
  const keys = schema["x-kubernetes-list-map-keys"] as string[] | undefined;
  const entry = arbitraryValue(schema["items"] as Schema);
  if (keys) return fc.uniqueArray(entry, { ...limits, selector: (value) => (value as Record<string, unknown>)[keys[0] ?? ""] });
  return schema["x-kubernetes-list-type"] === "set" ? fc.uniqueArray(entry, limits) : fc.array(entry, limits);
}

function arbitraryText(schema: Schema): fc.Arbitrary<string> {
  if (schema["format"] === "date-time") {
    return fc.date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true }).map((date) => date.toISOString());
  }
  const [minLength, maxLength] = [(schema["minLength"] as number) ?? 0, (schema["maxLength"] as number) ?? 64];
  const pattern = patternOf(schema);
  const text = pattern
    ? fc.stringMatching(pattern, { maxLength: Math.min(maxLength, 40) })
    : fc.string({ minLength, maxLength: Math.min(maxLength, 40) });
  return text.filter((value) => value.length >= minLength && value.length <= maxLength);
}

/** The schema's own pattern, or the one in its CEL rule. */
function patternOf(schema: Schema): RegExp | undefined {
  const rules = (schema["x-kubernetes-validations"] as { rule: string }[] | undefined) ?? [];
  const source =
    (schema["pattern"] as string | undefined) ?? rules.map(({ rule }) => /self\.matches\(r'(.+?)'\)/.exec(rule)?.[1]).find(Boolean);
  return source === undefined ? undefined : new RegExp(source);
}

const strangers: readonly unknown[] = [
  0,
  -1,
  1.5,
  10,
  2 ** 31,
  "",
  "x",
  "X Y",
  "a".repeat(70),
  "a".repeat(600),
  true,
  [],
  {},
  ["a", "a"],
  { unknown: 1 },
];

/** The value with one part replaced, removed or added: sometimes still valid, mostly not. */
export function mutated(value: unknown): fc.Arbitrary<unknown> {
  const places = placesOf(value);
  return fc
    .tuple(fc.constantFrom(...places), fc.constantFrom("replace", "remove", "add"), fc.constantFrom(...strangers))
    .map(([place, change, stranger]) => changedAt(value, place, change, stranger));
}

type Place = readonly (string | number)[];

function placesOf(value: unknown, here: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [here];
  return [here, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...here, Array.isArray(value) ? Number(key) : key]))];
}

function changedAt(value: unknown, place: Place, change: string, stranger: unknown): unknown {
  const [key, ...rest] = place;
  if (key === undefined) return change === "add" && isRecord(value) ? { ...value, unknownField: stranger } : stranger;
  if (Array.isArray(value)) {
    const copy: unknown[] = [...value];
    if (rest.length === 0 && change === "remove") copy.splice(Number(key), 1);
    else copy[Number(key)] = changedAt(copy[Number(key)], rest, change, stranger);
    return copy;
  }
  const { [key]: inner, ...others } = value as Record<string, unknown>;
  return rest.length === 0 && change === "remove" ? others : { ...others, [key]: changedAt(inner, rest, change, stranger) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

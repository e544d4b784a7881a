// The bounds of a schema: the type of each value, how long it is and how many entries it has. The API server holds them for whatever
// it stores. The webhook's port takes requests from every Pod, and those have passed no API server.
import type * as z from "zod";
import { type Schema, structuralSchema } from "../crd/structural-schema.ts";
import { type Check, entryOf, shown, type Violation } from "./violation.ts";

/** The check, for values within the bounds alone. Of any other value only the places that break them are told. */
export function withinBounds<T>(type: z.ZodType, check: Check<T>): Check<T> {
  let schema: Schema | undefined;
  return function* (value, field) {
    schema ??= structuralSchema(type);
    let isWithin = true;
    for (const violation of breaches(schema, value, field)) {
      isWithin = false;
      yield violation;
    }
    if (isWithin) yield* check(value, field);
  };
}

/** Looks into a list or a map only after it has been counted, and at no field that the schema does not have. */
function* breaches(schema: Schema, value: unknown, field: string): Generator<Violation> {
  const kind = kindOf(schema);
  if (!kinds[kind].is(value)) {
    yield { field, message: `must be ${kinds[kind].name}` };
    return;
  }
  const fault = sizeFault(schema, value) ?? choiceFault(schema, value);
  if (fault !== undefined) yield { field, message: fault };
  else if (Array.isArray(value)) yield* inList(schema, value, field);
  else if (typeof value === "object" && value !== null) yield* inObject(schema, value as Record<string, unknown>, field);
}

function* inList(schema: Schema, values: readonly unknown[], field: string): Generator<Violation> {
  const items = schema["items"] as Schema;
  for (const [index, value] of values.entries()) yield* breaches(items, value, `${field}[${index}]`);
}

function* inObject(schema: Schema, value: Readonly<Record<string, unknown>>, field: string): Generator<Violation> {
  const entries = schema["additionalProperties"] as Schema | undefined;
  if (entries !== undefined) {
    for (const key in value) yield* breaches(entries, value[key], entryOf(field, key));
    return;
  }
  const required = (schema["required"] as readonly string[] | undefined) ?? [];
  for (const [name, property] of Object.entries((schema["properties"] as Readonly<Record<string, Schema>> | undefined) ?? {})) {
    const inner = Object.hasOwn(value, name) ? value[name] : undefined;
    // The API server drops a null before it looks further.
    if (inner !== undefined && inner !== null) yield* breaches(property, inner, `${field}.${name}`);
    else if (required.includes(name)) yield { field: `${field}.${name}`, message: "is missing, and has no default" };
  }
}

const kinds = {
  object: { name: "an object", is: (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value) },
  array: { name: "a list", is: Array.isArray },
  string: { name: "a string", is: (value: unknown) => typeof value === "string" },
  integer: { name: "a whole number", is: Number.isInteger },
  boolean: { name: "true or false", is: (value: unknown) => typeof value === "boolean" },
  intOrString: { name: "a whole number or a string", is: (value: unknown) => typeof value === "string" || Number.isInteger(value) },
} as const;

function kindOf(schema: Schema): keyof typeof kinds {
  if (schema["x-kubernetes-int-or-string"]) return "intOrString";
  const { type } = schema;
  if (typeof type === "string" && Object.hasOwn(kinds, type)) return type as keyof typeof kinds;
  throw new Error(`no bounds are known of the type ${type}`);
}

function sizeFault(schema: Schema, value: unknown): string | undefined {
  const { maxLength, maxItems, maxProperties, minimum, maximum } = schema as Readonly<Record<string, number | undefined>>;
  if (typeof value === "string")
    return maxLength !== undefined && isLonger(value, maxLength) ? tooMany(value.length, "characters", maxLength) : undefined;
  if (typeof value === "number") {
    const isOutside = value < (minimum ?? Number.NEGATIVE_INFINITY) || value > (maximum ?? Number.POSITIVE_INFINITY);
    return isOutside ? `${value} is out of range; allowed are ${minimum ?? "any"} to ${maximum ?? "any"}` : undefined;
  }
  const [count, most] = Array.isArray(value) ? [value.length, maxItems] : [Object.keys(value as object).length, maxProperties];
  return most !== undefined && count > most ? tooMany(count, "entries", most) : undefined;
}

/** The API server counts characters, and JavaScript two for some of them. */
function isLonger(text: string, most: number): boolean {
  if (text.length <= most) return false;
  return text.length > 2 * most || [...text].length > most;
}

function tooMany(count: number, what: string, most: number): string {
  return `has ${count} ${what}; at most ${most} are allowed`;
}

function choiceFault(schema: Schema, value: unknown): string | undefined {
  const choices = schema["enum"] as readonly unknown[] | undefined;
  if (choices === undefined || choices.includes(value)) return undefined;
  return `${shown(value as string | number)} is not allowed; allowed are ${choices.join(", ")}`;
}

// Converts a zod schema to the structural schema of a CustomResourceDefinition.
import * as z from "zod";

export type Schema = { [key: string]: unknown };

/** The OpenAPI schema for the user's input, as the API server accepts it. */
export function structuralSchema(schema: z.ZodType): Schema {
  return structural(z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", unrepresentable: "throw", reused: "inline" }) as Schema);
}

function structural(schema: Schema): Schema {
  if (Array.isArray(schema["anyOf"])) return intOrString(schema, schema["anyOf"] as Schema[]);
  const result: Schema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "additionalProperties" && (schema["properties"] !== undefined || value === false)) continue;
    if (key === "propertyNames" || key === "$schema") continue;
    result[key] = translate(key, value);
  }
  if (isOpen(schema)) result["x-kubernetes-preserve-unknown-fields"] = true;
  return tidyTypes(result);
}

function translate(key: string, value: unknown): unknown {
  if (key === "properties")
    return Object.fromEntries(Object.entries(value as Schema).map(([name, field]) => [name, structural(field as Schema)]));
  if (key === "items" || key === "additionalProperties") return structural(value as Schema);
  return value;
}

/** An object that keeps unknown fields. */
function isOpen(schema: Schema): boolean {
  const rest = schema["additionalProperties"];
  return schema["type"] === "object" && typeof rest === "object" && rest !== null && Object.keys(rest).length === 0;
}

/** A number or a string: Kubernetes has a type of its own for it, and allows no other types inside of anyOf. */
function intOrString(schema: Schema, branches: Schema[]): Schema {
  const { anyOf: _, ...rest } = schema;
  const text = branches.find(({ type }) => type === "string") ?? {};
  const { type: _type, minLength: _min, ...limits } = text;
  return { ...rest, ...limits, anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true };
}

function tidyTypes(schema: Schema): Schema {
  const { minimum, maximum, pattern, ...rest } = schema;
  const result: Schema = { ...rest };
  // zod adds the bounds of safe integers; the API server's integers have 64 bits.
  if (minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER) result["minimum"] = minimum;
  if (maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) result["maximum"] = maximum;
  // The API server checks date-time by its format; zod's pattern for it is a hundred characters longer and says the same.
  if (pattern !== undefined && result["format"] !== "date-time") result["pattern"] = pattern;
  if (result["type"] === "number" && Array.isArray(result["enum"])) result["type"] = "integer";
  if (result["type"] === "integer") result["format"] = "int64";
  return result;
}

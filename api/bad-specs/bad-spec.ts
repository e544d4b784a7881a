// The parts of a table of bad specs: a valid object, a change that makes it invalid, and the text of the refusal.

export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };
export type Fields = { readonly [key: string]: Value };

/** Title, merge patch onto the valid object (null removes), the field in the refusal, and its text about what is allowed. */
export type BadSpec = readonly [title: string, change: Fields, field: string, allowed: RegExp];

/** A merge as in RFC 7386. */
export function merged(base: Value | undefined, change: Value): Value {
  if (!isFields(change)) return change;
  const result: { [key: string]: Value } = { ...(isFields(base) ? base : {}) };
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

function isFields(value: Value | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Puts a change under `spec`, so that tables can leave that out. */
export const inSpec = (entries: readonly BadSpec[]): readonly BadSpec[] =>
  entries.map(([title, change, field, allowed]) => [title, { spec: change }, field, allowed]);

/** A number of different strings. */
export const many = (count: number, prefix = "x"): readonly string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** A map with a number of entries. */
export const mapOf = (count: number, value: Value): Fields => Object.fromEntries(many(count).map((key) => [key, value]));

// What a check finds wrong: where, and a sentence that names the value and says what is allowed.

export interface Violation {
  /** Such as `spec.postgresql.parameters[work_mem]`. */
  readonly field: string;
  readonly message: string;
}

/** A pure look at one concern. Generators, so that a check says what it finds without keeping a list of its own. */
export type Check<T> = (value: T, field: string) => Iterable<Violation>;

/** One check after the other, in the order in which people read the spec. */
export function allOf<T>(...checks: readonly Check<T>[]): Check<T> {
  return function* (value, field) {
    for (const check of checks) yield* check(value, field);
  };
}

/** The check of a field that may be absent; what is absent is right. */
export function within<T, K extends keyof T & string>(key: K, check: Check<NonNullable<T[K]>>): Check<T> {
  return function* (value, field) {
    const inner = value[key];
    if (inner !== undefined && inner !== null) yield* check(inner, `${field}.${key}`);
  };
}

/** The check of every element of a list. */
export function each<T>(check: Check<T>): Check<readonly T[]> {
  return function* (values, field) {
    for (const [index, value] of values.entries()) yield* check(value, `${field}[${index}]`);
  };
}

/** Longer than any key that is right: the domain of a label, a slash and its name. */
const longestKeyShown = 317;

/** The place of an entry of a map. A key may be as long as the request, and is told once for each thing that is wrong with it. */
export function entryOf(field: string, key: string): string {
  return `${field}[${key.length > longestKeyShown ? `${key.slice(0, longestKeyShown)}…` : key}]`;
}

const longestShown = 80;

/** A value as it is shown in a message: quoted, so that blanks and line ends are seen, and never a page long. */
export function shown(value: string | number): string {
  if (typeof value === "number") return String(value);
  return JSON.stringify(value.length > longestShown ? `${value.slice(0, longestShown)}…` : value);
}

/** More than anybody reads. The time for a spec in which everything is wrong ends here too. */
const mostTold = 100;

/** The first violations that the check finds. */
export function violationsOf<T>(check: Check<T>, value: T, field: string): Violation[] {
  const found: Violation[] = [];
  for (const violation of check(value, field)) {
    found.push(violation);
    if (found.length === mostTold) break;
  }
  return found;
}

/** The API server refuses a condition with a message of more than 32,768 characters. */
const longestDescription = 16_384;

/** The violations as one line for a condition or a webhook's answer. Those that do not fit are counted. */
export function describeViolations(violations: readonly Violation[]): string {
  let described = "";
  for (const [index, { field, message }] of violations.entries()) {
    const next = `${described}${index === 0 ? "" : "; "}${field}: ${message}`;
    if (next.length > longestDescription) return `${described || next.slice(0, longestDescription)}; and ${violations.length - index} more`;
    described = next;
  }
  return described;
}

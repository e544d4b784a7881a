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

const longestShown = 80;

/** A value as it is shown in a message: quoted, so that blanks and line ends are seen, and never a page long. */
export function shown(value: string | number): string {
  if (typeof value === "number") return String(value);
  return JSON.stringify(value.length > longestShown ? `${value.slice(0, longestShown)}…` : value);
}

/** All that is wrong, as one line for a condition or a webhook's answer. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ field, message }) => `${field}: ${message}`).join("; ");
}

// CEL rules beside the schema: the API server checks them by itself, with a message that says what is allowed.
import type * as z from "zod";

export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** In CEL: a message with values of the object in it. `message` stands in the docs, and is told where this one can't be worked out. */
  readonly messageExpression?: string;
  /** Relative to the place of the rule, such as `.size`. */
  readonly fieldPath?: string;
}

/** The schema with rules that the API server checks on every write. */
export function withRules<T extends z.ZodType>(schema: T, ...rules: readonly Rule[]): T {
  const before = (schema.meta()?.["x-kubernetes-validations"] as Rule[] | undefined) ?? [];
  return schema.meta({ ...schema.meta(), "x-kubernetes-validations": [...before, ...rules] });
}

/**
 * A string with a pattern. The API server checks it by a CEL rule and not by the schema's `pattern`: that would answer with a
 * regular expression, where the rule's message says in words what is allowed.
 */
export function spelled(schema: z.ZodString, pattern: RegExp, message: string): z.ZodString {
  return withRules(schema.regex(pattern).meta({ pattern: undefined }), { rule: `self.matches(r'${pattern.source}')`, message });
}

/** Exactly one of the fields is set. */
export function exactlyOne(fields: readonly string[], what: string): Rule {
  const count = fields.map((field) => `(has(self.${field}) ? 1 : 0)`).join(" + ");
  return { rule: `${count} == 1`, message: `${what} needs exactly one of ${fields.join(", ")}` };
}

/** An optional field that must stay as it is: it can't be changed, added or removed. */
export function unchanging(field: string, message: string): Rule {
  return {
    rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    message,
    fieldPath: `.${field}`,
  };
}

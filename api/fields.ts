// Fields that several kinds share. Everything is bounded: the API server estimates the cost of a rule by the largest possible value.
import * as z from "zod";
import { spelled, withRules } from "./rules.ts";

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/** The longest name that leaves room for the suffixes in the names of children. */
export const longestSampleDBName = 40;

export const sampleDBName = spelled(
  z.string().min(1).max(longestSampleDBName),
  /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  "must start with a letter, end with a letter or digit, and have only a-z, 0-9 and - in it",
);

/** The name of an object such as a Secret, ConfigMap or StorageClass. */
export const objectName = spelled(
  z.string().min(1).max(253),
  new RegExp(`^${label}(\\.${label})*$`),
  "must be the name of an object: a-z, 0-9, - and . in it, a letter or digit at both ends and around each dot",
);

/** A key of a Secret or ConfigMap. */
export const dataKey = spelled(
  z.string().min(1).max(253),
  /^[-._a-zA-Z0-9]+$/,
  "must be a key of a Secret or ConfigMap: letters, digits, -, _ and . in it",
);

// At most two digits of exponent: one of a million digits keeps the API server busy for minutes (seen).
const quantityPattern = /^(\d+|\d+\.\d*|\.\d+)(([KMGTPE]i)|[numkMGTPE]|([eE][-+]?\d{1,2}))?$/;

/** Decided by the digits before the exponent: rounding never makes a quantity zero. */
const isAboveZero = (quantity: string) => /^[^eE]*[1-9]/.test(quantity);

/** A size with a unit, such as 10Gi. */
export const size = withRules(
  z.string().min(1).max(32).regex(quantityPattern).refine(isAboveZero, "must be above zero").meta({ pattern: undefined }),
  {
    rule: `self.matches(r'${quantityPattern.source}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))`,
    message: "must be a size above zero, a number with a unit such as 10Gi (Ki, Mi, Gi, Ti, Pi, Ei, or k, M, G, T, P, E)",
  },
);

/** As in a Pod: a number, or a string with a unit. */
export const quantity = withRules(
  z.union([z.int().min(0).max(Number.MAX_SAFE_INTEGER), z.string().min(1).max(32).regex(quantityPattern).meta({ pattern: undefined })]),
  {
    rule: `type(self) == int ? self >= 0 && self <= ${Number.MAX_SAFE_INTEGER} : self.matches(r'${quantityPattern.source}') && isQuantity(self)`,
    message: "must be a quantity of zero or more, such as 2, 500m or 1Gi",
  },
);

const labelValue = spelled(
  z.string().max(63),
  /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  "must be the value of a label: empty, or letters, digits, -, _ and . with a letter or digit at both ends",
);
export const labels = bounded(z.record(z.string(), labelValue), 64);
export const annotations = bounded(z.record(z.string(), z.string().max(16_384)), 64);

/** A map with a maximum number of entries. */
export function bounded<T extends z.ZodRecord>(map: T, maxProperties: number): T {
  return map
    .refine((value) => Object.keys(value).length <= maxProperties, `must have at most ${maxProperties} entries`)
    .meta({ maxProperties });
}

/** A list whose entries are identified, and merged, by one of their fields. */
export function listMap<T extends z.ZodArray<z.ZodObject>>(list: T, key: string): T {
  return list
    .refine((entries) => isUnique(entries.map((entry) => entry[key])), `must not have two entries with the same ${key}`)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key] });
}

/** A list without an order and without duplicates. */
export function setList<T extends z.ZodArray>(list: T): T {
  return list.refine(isUnique, "must not have duplicates").meta({ "x-kubernetes-list-type": "set" });
}

/** A list that is replaced as a whole. */
export function atomicList<T extends z.ZodArray>(list: T): T {
  return list.meta({ "x-kubernetes-list-type": "atomic" });
}

function isUnique(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}

/** A time of the API: RFC 3339 in UTC. */
export const time = z.iso.datetime({ offset: true }).max(40);

/** A time that a user writes. Its message says what is missing, where the format alone would give "must be of type date-time". */
export const timeWithZone = spelled(
  z.string().max(40),
  z.regexes.datetime({ offset: true }),
  "must be a time with its zone, such as 2026-11-16T03:00:00Z or 2026-11-16T04:00:00+01:00",
);

const largestUint64 = "18446744073709551615";
const withinUint64 = `must be at most ${largestUint64}, which is what 64 bits hold`;

/** A number of 64 bits, as a string: JSON.parse would round it. Strings of the same length compare as their numbers do. */
export const uint64 = withRules(
  spelled(z.string().min(1).max(20), /^(0|[1-9]\d*)$/, 'must be a whole number of 64 bits in quotes, such as "4711"').refine(
    (digits) => digits.length < 20 || digits <= largestUint64,
    withinUint64,
  ),
  { rule: `self.size() < 20 || self <= '${largestUint64}'`, message: withinUint64 },
);

/** A position in the write-ahead log, such as 0/16B3748. */
export const lsn = spelled(
  z.string().min(3).max(17),
  /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/,
  "must be a place in the write-ahead log as PostgreSQL prints it, such as 0/16B3748",
);

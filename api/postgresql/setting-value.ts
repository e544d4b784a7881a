// Values of settings, read as PostgreSQL reads them in postgresql.conf.
import type { Setting } from "./settings.ts";

const memory: Readonly<Record<string, number>> = { B: 1, kB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 };
/** In microseconds, the smallest of them. */
const time: Readonly<Record<string, number>> = { us: 1, ms: 1e3, s: 1e6, min: 6e7, h: 3.6e9, d: 8.64e10 };
const booleans = new Set(["on", "off", "true", "false", "yes", "no", "1", "0"]);
/** Of a text without blanks around it. Blanks on both sides of an empty unit could be split in as many ways as there are blanks. */
const numberPattern = /^([-+]?(?:0|[1-9]\d*|(?=\.\d))(?:\.\d*)?(?:[eE][-+]?\d{1,3})?)\s*([A-Za-z]*)$/;

/** What is wrong with the value, as the end of a sentence that says what is allowed; undefined when nothing is. */
export function valueFault(setting: Setting, value: string | number, lowest?: number): string | undefined {
  const text = String(value);
  switch (setting.vartype) {
    case "bool":
      return booleans.has(text.toLowerCase()) ? undefined : `is neither true nor false; allowed are ${[...booleans].join(", ")}`;
    case "enum":
      return setting.enumvals?.includes(text.toLowerCase()) ? undefined : `is not allowed; allowed are ${setting.enumvals?.join(", ")}`;
    case "integer":
    case "real":
      return numberFault(setting, text, lowest);
    case "string":
      return /[\0\r\n]/.test(text) ? "has a line end in it; allowed is text of one line" : undefined;
  }
}

function numberFault(setting: Setting, text: string, lowest: number | undefined): string | undefined {
  const value = parseNumber(setting, text);
  if (value === undefined) return `is not ${kindOfNumber(setting)}; allowed are ${range(setting, lowest)}`;
  const min = Math.max(Number(setting.min_val), lowest ?? Number.NEGATIVE_INFINITY);
  return value < min || value > Number(setting.max_val) ? `is out of range; allowed are ${range(setting, lowest)}` : undefined;
}

/** The number in the setting's own unit; undefined when it is none. Integers are rounded, as the server does. */
function parseNumber({ vartype, unit }: Setting, text: string): number | undefined {
  const [, digits, givenUnit] = numberPattern.exec(text.trim()) ?? [];
  if (digits === undefined || givenUnit === undefined) return undefined;
  if (vartype === "integer" && /^[-+]\./.test(digits)) return undefined; // the server takes .5 for an integer, but not -.5
  const factor = givenUnit === "" ? 1 : conversion(givenUnit, unit);
  if (factor === undefined) return undefined;
  const value = Number(digits) * factor;
  return vartype === "integer" ? roundToEven(value) : value;
}

/** How many of the setting's units the given one is; undefined where they do not go together. */
function conversion(given: string, unit: string | undefined): number | undefined {
  const [, count = "", base = ""] = /^(\d*)([A-Za-z]+)$/.exec(unit ?? "") ?? [];
  const table = unitsOf(base);
  if (table === undefined || !Object.hasOwn(table, given)) return undefined;
  return (table[given] ?? Number.NaN) / ((table[base] ?? Number.NaN) * Number(count || 1));
}

function unitsOf(base: string): Readonly<Record<string, number>> | undefined {
  if (Object.hasOwn(memory, base)) return memory;
  return Object.hasOwn(time, base) ? time : undefined;
}

/** As C's rint: a half goes to the even neighbour. */
function roundToEven(value: number): number {
  const rounded = Math.round(value);
  return Math.abs(value % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

function kindOfNumber({ vartype, unit }: Setting): string {
  const kind = vartype === "integer" ? "an integer" : "a number";
  return unit === undefined ? kind : `${kind} with or without a unit`;
}

function range({ min_val, max_val, unit }: Setting, lowest: number | undefined): string {
  const from = lowest === undefined ? min_val : String(Math.max(Number(min_val), lowest));
  if (unit === undefined) return `${from} to ${max_val}`;
  const units = Object.keys(unitsOf(unit.replace(/^\d+/, "")) ?? {});
  return `${from} to ${max_val} in units of ${unit}, or with one of the units ${units.join(", ")}`;
}

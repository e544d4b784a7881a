// Cron expressions as a CronJob takes them: five fields or a macro. Parsed here, because croner takes more than that.
import { shown } from "./violation.ts";

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly words?: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const dayOfMonth: Field = { name: "day of month", min: 1, max: 31 };
const month: Field = { name: "month", min: 1, max: 12, words: months };
const weekday: Field = { name: "weekday", min: 0, max: 6, words: weekdays };
const fields: readonly Field[] = [{ name: "minute", min: 0, max: 59 }, { name: "hour", min: 0, max: 23 }, dayOfMonth, month, weekday];
const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const macros: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

export type Cron =
  /** The same schedule in the plainest words: a star, or numbers with commas. */
  { readonly pattern: string; readonly fault?: never } | { readonly fault: string; readonly pattern?: never };

/** Parses the expression; the fault is the end of a sentence that says what is allowed. */
export function parseCron(expression: string): Cron {
  if (expression.startsWith("@")) {
    const pattern = macros.get(expression);
    return pattern === undefined ? { fault: `is not a macro; allowed are ${[...macros.keys()].join(", ")}` } : { pattern };
  }
  if (/TZ=/.test(expression)) return { fault: "has a time zone in it; it belongs in the field timeZone" };
  const texts = expression.trim().split(/[ \t]+/);
  if (texts.length !== fields.length) {
    return { fault: `has ${texts.length} fields; it needs five (minute hour day-of-month month weekday), or a macro such as @daily` };
  }
  const sets: (ReadonlySet<number> | "*")[] = [];
  for (const [index, field] of fields.entries()) {
    const set = parseField(texts[index] ?? "", field);
    if (typeof set === "string" && set !== "*") return { fault: set };
    sets.push(set as ReadonlySet<number> | "*");
  }
  const [, , days, inMonths, onWeekdays] = sets;
  if (days !== undefined && inMonths !== undefined && onWeekdays === "*" && !everComes(days, inMonths)) {
    return { fault: "never comes: none of its months has such a day of month" };
  }
  return { pattern: sets.map((set) => (set === "*" ? set : [...set].sort((a, b) => a - b).join(","))).join(" ") };
}

/** How often a pattern of `parseCron` comes in a day, on average. Where both days are given, either is enough. */
export function runsPerDay(pattern: string): number {
  const [minutes = 0, hours = 0, days = 0, inMonths = 0, onWeekdays = 0] = pattern
    .split(" ")
    .map((text, index) => (text === "*" ? 1 : text.split(",").length / sizeOf(fields[index])));
  const eitherDay = days < 1 && onWeekdays < 1;
  const onDays = eitherDay ? 1 - (1 - days) * (1 - onWeekdays) : days * onWeekdays;
  return minutes * 60 * hours * 24 * onDays * inMonths;
}

function sizeOf(field: Field | undefined): number {
  return field ? field.max - field.min + 1 : 1;
}

function everComes(days: ReadonlySet<number> | "*", inMonths: ReadonlySet<number> | "*"): boolean {
  if (days === "*") return true;
  const first = Math.min(...days);
  return longestMonths.some((length, index) => (inMonths === "*" || inMonths.has(index + 1)) && first <= length);
}

/** The values of a field, a star when all are meant, or what is wrong with it. */
function parseField(text: string, field: Field): ReadonlySet<number> | "*" | string {
  const values = new Set<number>();
  let isStar = false;
  for (const part of text.split(",")) {
    const range = parseRange(part, field);
    if (typeof range === "string") return range;
    isStar ||= range.isStar;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
  }
  return isStar ? "*" : values;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly isStar: boolean;
}

function parseRange(part: string, field: Field): Range | string {
  const match = /^(?:([*?])|(\w+)(?:-(\w+))?)(?:\/(\d{1,4}))?$/.exec(part);
  const step = Number(match?.[4] ?? 1);
  if (match === null || step === 0) return fault(part, field);
  const [, star, fromText, toText, stepText] = match;
  // A star with a step is a list of days like any other: beside a weekday it means either, as in Kubernetes.
  if (star !== undefined) return { from: field.min, to: field.max, step, isStar: step === 1 };
  const from = value(fromText ?? "", field);
  // Without an end `5/10` goes on to the last value, as in Kubernetes.
  const to = toText !== undefined ? value(toText, field) : stepText !== undefined ? field.max : from;
  if (from === undefined || to === undefined || to < from) return fault(part, field);
  return { from, to, step, isStar: false };
}

function value(text: string, { min, max, words }: Field): number | undefined {
  const word = words?.indexOf(text.toLowerCase()) ?? -1;
  if (word >= 0) return word + min;
  const number = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : undefined;
}

function fault(part: string, { name, min, max, words }: Field): string {
  const shownWords = words === undefined ? "" : ` or ${words[0]} to ${words.at(-1)}`;
  return `has ${shown(part)} as ${name}; allowed are * and ${min} to ${max}${shownWords}, as lists (1,2), ranges (1-3) and steps (*/2)`;
}

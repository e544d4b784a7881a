// Time zones by their IANA names, as a CronJob takes them.
import { type Check, shown } from "./violation.ts";

/** Names without a slash that are in the IANA list. ICU knows more of three letters, such as PST, that mean several things. */
const withoutSlash = new Set(
  "UTC GMT UCT Universal Zulu Greenwich EST MST HST EST5EDT CST6CDT MST7MDT PST8PDT CET MET EET WET Cuba Egypt Eire GB Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya Navajo NZ PRC Poland Portugal ROC ROK Singapore Turkey".split(
    " ",
  ),
);

/** Zones that were found right: asking Intl takes longer than all other checks. There are some 600 of them. */
const known = new Set<string>(["UTC"]);
/** Intl takes an old name in any case, such as US/PACIFIC: without a bound the set would grow with every spelling. */
const mostKnown = 1000;

export function isTimeZone(name: string): boolean {
  if (known.has(name)) return true;
  if (!withoutSlash.has(name) && !/^(?!SystemV\/)[A-Z][A-Za-z]+(\/[-+_A-Za-z0-9]+){1,2}$/.test(name)) return false;
  const resolved = resolve(name);
  if (resolved === undefined) return false;
  // Intl takes any case; the rest of the world looks for a file of this very name.
  if (resolved !== name && resolved.toLowerCase() === name.toLowerCase()) return false;
  if (known.size < mostKnown) known.add(name);
  return true;
}

function resolve(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined; // Intl throws a RangeError for what it does not know
  }
}

export const timeZone: Check<string> = function* (name, field) {
  if (isTimeZone(name)) return;
  yield {
    field,
    message: `${shown(name)} is not a time zone; allowed are names of the IANA list such as Europe/Berlin or UTC, not Local and not offsets`,
  };
};

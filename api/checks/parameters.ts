// Settings of postgresql.conf against those that the server of the major really has.
import { closestName } from "../postgresql/closest-name.ts";
import { lowestValues, ownedParameters } from "../postgresql/owned-parameters.ts";
import { valueFault } from "../postgresql/setting-value.ts";
import { type Major, settingsOf } from "../postgresql/settings.ts";
import { shown, type Violation } from "./violation.ts";

/** An extension's setting. Anything else in a key could become a line of its own in postgresql.conf. */
const extensionName = /^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)+$/;
const longestName = 128;

/** Looking for the name that was meant takes a while: a spec full of nonsense must not hold the webhook up. */
const mostHints = 8;

type Values = Readonly<Record<string, string | number>>;

interface Fault {
  /** Of the setting. */
  readonly name: string;
  readonly message: string;
}

export function* parameters(values: Values, major: Major, field: string): Generator<Violation> {
  for (const { name, message } of faults(values, major, mostHints)) yield { field: `${field}[${name.slice(0, longestName)}]`, message };
}

/** The names of the settings that a server of this major does not know, or whose value it refuses. */
export function refusedParameters(values: Values, major: Major): ReadonlySet<string> {
  return new Set(Array.from(faults(values, major, 0), ({ name }) => name));
}

function* faults(values: Values, major: Major, hintsLeft: number): Generator<Fault> {
  const hints = { left: hintsLeft };
  for (const [name, value] of Object.entries(values)) {
    const message = nameFault(name, major, hints) ?? settingFault(name, value, major);
    if (message !== undefined) yield { name, message };
  }
  yield* reservedConnections(values);
}

function nameFault(name: string, major: Major, hints: { left: number }): string | undefined {
  if (name.includes(".")) {
    if (name.length <= longestName && extensionName.test(name)) return undefined;
    return `${shown(name)} is not a setting's name; allowed are letters, digits and _ around each dot, such as pg_stat_statements.max`;
  }
  const small = name.toLowerCase();
  const reason = ownedParameters.get(small);
  if (reason !== undefined) return `${shown(name)} can't be set: ${reason}; leave it out`;
  const setting = settingsOf(major).get(small);
  if (setting === undefined) {
    const meant = hints.left-- > 0 ? closestName(small, settingsOf(major).keys()) : undefined;
    const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
    return `${shown(name)} is not a setting of PostgreSQL ${major}${hint || "; allowed are its settings, and an extension's with a dot"}`;
  }
  if (setting.context === "internal") return `${shown(name)} is read-only: PostgreSQL shows it, and nobody sets it; leave it out`;
  // Two spellings of one setting would be two lines, of which the last wins.
  return name === small ? undefined : `${shown(name)} has capital letters; write ${small}`;
}

function settingFault(name: string, value: string | number, major: Major): string | undefined {
  const setting = settingsOf(major).get(name);
  const fault = setting === undefined ? extensionValueFault(value) : valueFault(setting, value, lowestValues.get(name));
  return fault === undefined ? undefined : `${shown(value)} ${fault}`;
}

/** Nothing is known of an extension's settings but that they are a line each. */
function extensionValueFault(value: string | number): string | undefined {
  return /[\0\r\n]/.test(String(value)) ? "has a line end in it; allowed is text of one line" : undefined;
}

/** The server does not start when the connections that it keeps back are all that it has. */
function* reservedConnections(values: Values): Generator<Fault> {
  const defaults = { max_connections: 100, superuser_reserved_connections: 3, reserved_connections: 0 };
  const number = (name: keyof typeof defaults) => Number(values[name] ?? defaults[name]);
  const reserved = number("superuser_reserved_connections") + number("reserved_connections");
  if (!(reserved >= number("max_connections"))) return; // also when one is no number, which has been said above
  const name = values["superuser_reserved_connections"] === undefined ? "reserved_connections" : "superuser_reserved_connections";
  yield {
    name,
    message: `${shown(values[name] ?? defaults[name])} leaves no connection to users; superuser_reserved_connections and reserved_connections together must be below max_connections, which is ${number("max_connections")}`,
  };
}

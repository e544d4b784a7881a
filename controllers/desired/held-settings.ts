// Held settings: a newer operator changed them by itself, and they need a restart of PostgreSQL. They wait for one that the user causes.
import { settingsAskedAnnotation, settingsHeldAnnotation } from "../../api/annotations.ts";
import { jsonAnnotation } from "../kinds/json-annotation.ts";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { ClusterSettings } from "../patroni/state.ts";
import { memoryOf, parameters } from "./configuration.ts";

type Values = Readonly<Record<string, unknown>>;
type Spec = SampleDB["spec"];

/**
 * The fields of the spec that settings of PostgreSQL follow from. When a setting begins to follow from another field, add the field here:
 * otherwise a user's change of it would count as the operator's, and wait for a restart for ever. A test compares the list and the schema.
 */
const sources = ["postgresVersion", "replicas", "resources", "postgresql", "synchronousReplication", "backup"] as const;

/** Without the hba lines, which are no settings: the annotations of one object have 256 KiB together. */
type Source = Pick<Spec, Exclude<(typeof sources)[number], "postgresql">> & {
  readonly postgresql?: { readonly parameters?: Values | undefined } | undefined;
};

/** The note in the annotation. Notes of older operators have `settings` in place of the spec: the user's words by the name of the setting. */
interface AskedNote {
  readonly spec?: Source;
  readonly settings?: Values;
  readonly restart?: string;
}

/** The user's words: the spec, and the value of the restart annotation. A restart brings the held settings along. */
export interface Asked {
  readonly db: Pick<SampleDB, "spec">;
  readonly restart: string | undefined;
}

/** The annotations that stand beside the settings in NAME-config. */
export function settingsNotes(asked: Asked, held: readonly string[]): Record<string, string> {
  const note = JSON.stringify(askedNow(asked));
  return { [settingsAskedAnnotation]: note, ...(held.length > 0 ? { [settingsHeldAnnotation]: held.join() } : {}) };
}

/** The names of the held settings, as noted when the settings were written. */
export function heldNames(live: ConfigMap | undefined): string[] {
  return live?.metadata.annotations?.[settingsHeldAnnotation]?.split(",") ?? [];
}

/**
 * The settings that must not cause a restart after this write, because the operator changed them. A setting that the user changed or
 * reverted is never among them.
 */
export function heldSettings(live: ConfigMap | undefined, asked: Asked, parametersOf: typeof parameters = parameters): string[] {
  const before: AskedNote = jsonAnnotation<AskedNote>(live, settingsAskedAnnotation);
  const words = before.spec ? wordsOf(before.spec) : before.settings;
  if (words && before.restart !== asked.restart) return [];
  const wanted = parametersOf(asked.db);
  const changed = differing((live && new ClusterSettings(live).parameters) ?? wanted, wanted);
  const byWords = differing(words ?? {}, wordsOf(asked.db.spec)); // without a note, every setting of the user counts as changed
  // Both by this version of the operator, for the earlier spec and for the present one: only the user can have made the difference.
  const byFields = before.spec ? differing(parametersOf({ spec: before.spec as Spec }), wanted) : [];
  const askedFor = new Set([...byWords, ...byFields]);
  return [...new Set([...heldNames(live), ...changed])].filter((name) => !askedFor.has(name)).sort();
}

/** The user's words, by the name of the setting that follows from them. How it follows may differ between versions of the operator. */
function wordsOf({ resources, postgresql }: Pick<Source, "resources" | "postgresql">): Values {
  const memory = memoryOf(resources);
  return { ...(memory === undefined ? {} : { shared_buffers: memory }), ...postgresql?.parameters };
}

function askedNow({ db: { spec }, restart }: Asked): AskedNote {
  const parameters = spec.postgresql?.parameters;
  const noted = Object.fromEntries(sources.map((field) => [field, spec[field]]));
  const source = { ...noted, postgresql: parameters && { parameters } } as unknown as Source;
  return { spec: source, ...(restart === undefined ? {} : { restart }) };
}

function differing(before: Values, now: Values): string[] {
  return Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
}

// Settings that a newer operator has changed by itself: what of them needs a restart of PostgreSQL waits for one that somebody asks for.
import { settingsAskedAnnotation, settingsHeldAnnotation } from "../../api/annotations.ts";
import { jsonAnnotation } from "../kinds/json-annotation.ts";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { ClusterSettings } from "../patroni/state.ts";
import { memoryOf, parameters } from "./configuration.ts";

type Values = Readonly<Record<string, unknown>>;
type Spec = SampleDB["spec"];

/**
 * The fields of the spec that settings of PostgreSQL follow from. A setting that begins to follow from another field needs that field here:
 * otherwise a user's change of it would count as the operator's, and wait for a restart for ever. A test compares this list with the schema.
 */
const sources = ["postgresVersion", "replicas", "resources", "postgresql", "synchronousReplication", "backup"] as const;

/** As it is noted. `settings` are the user's words by the name of the setting; notes of older operators have nothing else. */
interface AskedNote {
  readonly settings: Values;
  readonly spec: Pick<Spec, (typeof sources)[number]>;
  readonly restart?: string;
}

/** What a person can ask for: settings, and a restart, which brings those that are held back. */
export interface Asked {
  readonly db: Pick<SampleDB, "spec">;
  readonly restart: string | undefined;
}

/** Beside the settings themselves. */
export function settingsNotes(asked: Asked, held: readonly string[]): Record<string, string> {
  const note = JSON.stringify(askedNow(asked));
  return { [settingsAskedAnnotation]: note, ...(held.length > 0 ? { [settingsHeldAnnotation]: held.join() } : {}) };
}

/** The names of the settings that were held back when they were written. */
export function heldNames(live: ConfigMap | undefined): string[] {
  return live?.metadata.annotations?.[settingsHeldAnnotation]?.split(",") ?? [];
}

/**
 * The settings that must not cause a restart once the settings of now are written over the live ones, because the operator changed them. A
 * setting that the user changed or reverted is never among them.
 */
export function heldSettings(live: ConfigMap | undefined, asked: Asked, parametersOf: typeof parameters = parameters): string[] {
  const [before, now] = [jsonAnnotation<AskedNote>(live, settingsAskedAnnotation), askedNow(asked)];
  if (before.settings && before.restart !== now.restart) return [];
  const wanted = parametersOf(asked.db);
  const changed = differing((live && new ClusterSettings(live).parameters) ?? wanted, wanted);
  const byWords = differing(before.settings ?? {}, now.settings); // without a note, all that the user has set
  // This operator's settings for the earlier spec and for the spec of now: only the user can have made that difference.
  const byFields = before.spec ? differing(parametersOf({ spec: before.spec as Spec }), wanted) : [];
  const askedFor = new Set([...byWords, ...byFields]);
  return [...new Set([...heldNames(live), ...changed])].filter((name) => !askedFor.has(name)).sort();
}

function askedNow({ db: { spec }, restart }: Asked): AskedNote {
  const memory = memoryOf(spec.resources);
  const settings = { ...(memory === undefined ? {} : { shared_buffers: memory }), ...spec.postgresql?.parameters };
  const noted = Object.fromEntries(sources.map((field) => [field, spec[field]])) as AskedNote["spec"];
  return { settings, spec: noted, ...(restart === undefined ? {} : { restart }) };
}

function differing(before: Values, now: Values): string[] {
  return Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
}

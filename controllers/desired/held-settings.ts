// Settings that a newer operator has changed by itself: what of them needs a restart of PostgreSQL waits for one that somebody asks for.
import { settingsAskedAnnotation as askedAnnotation, settingsHeldAnnotation as heldAnnotation } from "../../api/annotations.ts";
import { jsonAnnotation } from "../kinds/json-annotation.ts";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { ClusterSettings } from "../patroni/state.ts";
import { memoryOf, parameters } from "./configuration.ts";

type Values = Readonly<Record<string, unknown>>;
/** As it is noted. */
type AskedNote = { readonly settings: Values; readonly restart?: string };

/** What a person can ask for: settings, and a restart, which brings what was held back. */
export interface Asked {
  readonly db: Pick<SampleDB, "spec">;
  readonly restart: string | undefined;
}

/** Beside the settings themselves. */
export function settingsNotes(asked: Asked, held: readonly string[]): Record<string, string> {
  return { [askedAnnotation]: JSON.stringify(askedNow(asked)), ...(held.length > 0 ? { [heldAnnotation]: held.join() } : {}) };
}

/** As they were written. */
export function heldNames(live: ConfigMap | undefined): string[] {
  return live?.metadata.annotations?.[heldAnnotation]?.split(",") ?? [];
}

/** Those that are held back once the settings of now are written over these. What a user changes, also by taking it back, is not. */
export function heldSettings(live: ConfigMap | undefined, asked: Asked): string[] {
  const [before, now] = [jsonAnnotation<AskedNote>(live, askedAnnotation), askedNow(asked)];
  if (before.settings && before.restart !== now.restart) return [];
  const wanted = parameters(asked.db);
  const changed = differing((live && new ClusterSettings(live).parameters) ?? wanted, wanted);
  const askedFor = new Set(differing(before.settings ?? {}, now.settings)); // without a note, all that the user has set
  return [...new Set([...heldNames(live), ...changed])].filter((name) => !askedFor.has(name)).sort();
}

/** By the name of the setting that follows from it, in the user's words: how it follows may be another in a newer operator. */
function askedNow({ db: { spec }, restart }: Asked): AskedNote {
  const memory = memoryOf(spec.resources);
  const settings = { ...(memory === undefined ? {} : { shared_buffers: memory }), ...spec.postgresql?.parameters };
  return { settings, ...(restart === undefined ? {} : { restart }) };
}

function differing(before: Values, now: Values): string[] {
  return Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
}

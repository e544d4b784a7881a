// Settings that a newer operator has changed by itself: what of them needs a restart of PostgreSQL waits for one that somebody asks for.
import type { ConfigMap } from "../kinds.ts";
import type { SampleDB } from "../resources.ts";
import { parameters } from "./configuration.ts";

/** On Patroni's object of settings: what the user had asked for when they were written. */
const askedAnnotation = "sampledb.io/settings-asked";
/** There as well: the names of those that nobody has asked for. */
const heldAnnotation = "sampledb.io/settings-held";

type Values = Readonly<Record<string, unknown>>;

/** Beside the settings themselves. */
export function settingsNotes(db: Pick<SampleDB, "spec">, held: readonly string[]): Record<string, string> {
  return { [askedAnnotation]: JSON.stringify(askedSettings(db)), ...(held.length > 0 ? { [heldAnnotation]: held.join() } : {}) };
}

/** As they were written. */
export function heldNames(live: ConfigMap | undefined): string[] {
  return live?.metadata.annotations?.[heldAnnotation]?.split(",") ?? [];
}

/** Those that are held back once the settings of now are written over these. What a user changes, also by taking it back, is not. */
export function heldSettings(live: ConfigMap | undefined, db: Pick<SampleDB, "spec">): string[] {
  const { config, [askedAnnotation]: askedBefore } = live?.metadata.annotations ?? {};
  const [before, now, asked] = [valuesOf(config)?.["postgresql"]?.parameters, parameters(db), askedSettings(db)];
  const changed = differing(before ?? now, now);
  const askedFor = new Set(differing(valuesOf(askedBefore) ?? asked, asked));
  return [...new Set([...heldNames(live), ...changed])].filter((name) => !askedFor.has(name)).sort();
}

/** Instances may write there too: what can't be read says nothing, and is written over. */
function valuesOf(text = ""): Record<string, { readonly parameters?: Values }> | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

/** By the name of the setting that follows from it, in the user's words: how it follows may be another in a newer operator. */
function askedSettings({ spec: { resources, postgresql } }: Pick<SampleDB, "spec">): Values {
  const memory = resources?.limits?.["memory"] ?? resources?.requests?.["memory"];
  return { ...(memory === undefined ? {} : { shared_buffers: memory }), ...postgresql?.parameters };
}

function differing(before: Values, now: Values): string[] {
  return Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
}

// The order to give up an archive, given by annotation: whether it can be carried out, and which segments it lets go. Pure functions.
import { dropAnnotation } from "../../../api/annotations.ts";
import type { Begun, LetGo } from "../../desired/archive-notes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import type { InstanceAnswer } from "../../repository/answers.ts";
import type { PresentArchive } from "../archive/new-archive.ts";

/** Segments that wait for less are on their way. */
const stuckSeconds = 300;

export type DropOrder =
  | { readonly kind: "none" }
  | { readonly kind: "refused"; readonly why: string }
  /** Carried out: by an operator that has ended before it took the annotation off, or when it was ordered before. */
  | { readonly kind: "carriedOut"; readonly begun: Begun }
  | { readonly kind: "open" };

export function dropOrder({ metadata }: Pick<SampleDB, "metadata">, present: PresentArchive | undefined): DropOrder {
  const order = metadata.annotations?.[dropAnnotation];
  if (order === undefined) return { kind: "none" };
  if (!present) return { kind: "refused", why: "nothing is archived, so there is no archive to give up" };
  const { stanza, notes } = present;
  if (notes.begun?.because === "Dropped" && notes.begun.former === order) return { kind: "carriedOut", begun: notes.begun };
  return order === stanza ? { kind: "open" } : { kind: "refused", why: `the archive is ${stanza}, and not ${order}: nothing is let go` };
}

export type Drop =
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "waits"; readonly why: string }
  | { readonly kind: "drop"; readonly letGo: LetGo; readonly lostSince: string };

/** What the order lets go: the files that wait on the primary now, and none that is written later. */
export function dropOf(answer: InstanceAnswer, systemIdentifier: string | undefined, now: Date): Drop {
  const { waiting, newest, failure, oldestSeconds } = answer;
  if (waiting === 0) return { kind: "refused", why: "no segment waits for the archive, so there is nothing to let go" };
  if (!failure && oldestSeconds < stuckSeconds) return { kind: "refused", why: "segments are being archived: nothing is let go" };
  if (!newest) return { kind: "waits", why: "the primary's image is too old to say which segments wait: order a restart" };
  if (systemIdentifier === undefined) return { kind: "waits", why: "Patroni has not told the system identifier of the data" };
  const oldest = now.getTime() - oldestSeconds * 1000;
  const lostSince = new Date(Math.min(oldest, failure ? Date.parse(failure.since) : oldest)).toISOString();
  return { kind: "drop", letGo: { systemIdentifier, last: newest }, lostSince };
}

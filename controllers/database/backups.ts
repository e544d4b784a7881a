// The Backups of a database as any controller sees them: read from the cache, without a request.
import { conditionTypes } from "../../api/conditions.ts";
import { reasons } from "../../api/reasons.ts";
import type { Cache } from "../../runtime/cache/cache.ts";
import { type Backup, backups, type Restore } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";
import { byDatabase } from "../watches.ts";
import { hasEnded } from "./ended.ts";

/** In the order of their creation. */
export function backupsOf(cache: Cache, { namespace, name }: { readonly namespace: string; readonly name: string }): Backup[] {
  return cache.watched(backups).listBy(byDatabase, `${namespace}/${name}`).toSorted(inOrder);
}

/** By creation, and by name within a second: every replica of the operator gets the same order. */
function inOrder({ metadata: a }: Backup, { metadata: b }: Backup): number {
  return (a.creationTimestamp ?? "").localeCompare(b.creationTimestamp ?? "") || a.name.localeCompare(b.name);
}

/** The repository holds all that a restore needs. */
export function isGood({ status }: Pick<Backup, "status">): boolean {
  return conditionOf(status, conditionTypes.succeeded)?.status === "True";
}

/** It builds on no other: its label says it, because a backup is made in full where there is none to build on. */
export function isFull({ status }: Pick<Backup, "status">): boolean {
  return /^[^_]+F$/.test(status?.label ?? "");
}

/** It is being removed from the repository, or is gone from there: nothing may be restored from it any more. */
export function isBeingExpired(backup: Pick<Backup, "status">): boolean {
  return conditionOf(backup.status, conditionTypes.expiring)?.reason === reasons.artefactExpiring || hasExpired(backup);
}

/** What lay in the repository is gone. */
export function hasExpired({ status }: Pick<Backup, "status">): boolean {
  return conditionOf(status, conditionTypes.expiring)?.reason === reasons.artefactExpired;
}

/** Those that can't be restored without this one. pgBackRest's labels say it: an incremental one begins with the label of its full one. */
export function dependentsOf(backup: Backup, all: readonly Backup[]): Backup[] {
  const { label, repository } = backup.status ?? {};
  if (label === undefined) return [];
  const builds = ({ status }: Backup) => status?.repository?.stanza === repository?.stanza && buildsOn(status?.label ?? "", label);
  return all.filter((other) => other.metadata.uid !== backup.metadata.uid && builds(other));
}

/** A full one carries all others of its chain. Others are carried at most by those of the same chain that were made later. */
function buildsOn(label: string, earlier: string): boolean {
  const [full = "", own = ""] = label.split("_");
  const [chain = "", before = ""] = earlier.split("_");
  if (full !== chain || own === "") return false;
  // A differential one builds on its full one alone.
  return before === "" || (own.endsWith("I") && before < own);
}

/**
 * Whether a Restore may still need its source: the repository until the data is whole; and the Backup object until the SampleDB and its first
 * Backup are made, because the spec is in it. Whether that SampleDB ever serves changes nothing for the source.
 */
function isReading(restore: Restore): boolean {
  const { systemIdentifier, firstBackupName } = restore.status ?? {};
  const isWhole = systemIdentifier !== undefined && (restore.spec.destination.type === "InPlace" || firstBackupName !== undefined);
  return !isWhole && !hasEnded(restore);
}

/** Restores that read this Backup, or may choose it. */
export function readersOf({ metadata, spec }: Backup, restores: readonly Restore[]): Restore[] {
  const reads = ({ source }: Restore["spec"]) => source.backupName === metadata.name || source.sampleDBName === spec.sampleDBName;
  return restores.filter((restore) => restore.metadata.namespace === metadata.namespace && reads(restore.spec) && isReading(restore));
}

/** Restores that read one of these Backups, or anything else of the SampleDB or of the stanza: expiry removes log, too. */
export function readersOfChain([head, ...others]: readonly [Backup, ...Backup[]], restores: readonly Restore[]): Restore[] {
  const { stanza } = head.status?.repository ?? {};
  const ofStanza = restores.filter(
    (restore) =>
      restore.metadata.namespace === head.metadata.namespace &&
      restore.spec.source.repository !== undefined &&
      restore.spec.source.repository.stanza === stanza &&
      isReading(restore),
  );
  return [...new Set([...[head, ...others].flatMap((backup) => readersOf(backup, restores)), ...ofStanza])];
}

/** Why the artefact must stay, with the way out. Asked at admission, and again by the controller. */
export function whyNeeded(backup: Backup, siblings: readonly Backup[], readers: readonly Restore[]): string | undefined {
  const stays = ({ metadata }: Backup) => metadata.deletionTimestamp === undefined && metadata.uid !== backup.metadata.uid;
  // Of one that goes with the policy Retain, the artefact stays, and is worth nothing without what it builds on.
  const needsIt = (other: Backup) => stays(other) || other.spec.deletionPolicy === "Retain";
  const wayOut = "or set deletionPolicy to Retain, and what lies in the repository stays";
  const names = (objects: readonly (Backup | Restore)[]) => objects.map(({ metadata }) => metadata.name).join(", ");
  const dependents = dependentsOf(backup, siblings).filter(needsIt);
  if (dependents.length > 0) return `these Backups build on it: ${names(dependents)}; delete them first, ${wayOut}`;
  if (readers.length > 0) return `these Restores read it, or may: ${names(readers)}; wait until they are over, ${wayOut}`;
  const isLast = isGood(backup) && !siblings.some((other) => stays(other) && isGood(other));
  return isLast ? `it is the last good backup of SampleDB ${backup.spec.sampleDBName}; make another one first, ${wayOut}` : undefined;
}

// The Backups of a database as any controller sees them: read from the cache, without a request.
import { conditionTypes } from "../../api/conditions.ts";
import type { Cache } from "../../runtime/cache/cache.ts";
import { type Backup, backups } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";
import { byDatabase } from "../watches.ts";

/** In the order of their creation. */
export function backupsOf(cache: Cache, { namespace, name }: { readonly namespace: string; readonly name: string }): Backup[] {
  return cache.watched(backups).listBy(byDatabase, `${namespace}/${name}`).toSorted(inOrder);
}

/** By creation, and by name within a second: every replica of the operator gets the same order. */
function inOrder({ metadata: a }: Backup, { metadata: b }: Backup): number {
  return (a.creationTimestamp ?? "").localeCompare(b.creationTimestamp ?? "") || a.name.localeCompare(b.name);
}

/** Succeeded or Failed: nothing changes any more. */
export function hasEnded({ status }: Pick<Backup, "status">): boolean {
  const told = conditionOf(status, conditionTypes.succeeded)?.status;
  return told === "True" || told === "False";
}

/** The repository holds all that a restore needs. */
export function isGood({ status }: Pick<Backup, "status">): boolean {
  return conditionOf(status, conditionTypes.succeeded)?.status === "True";
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

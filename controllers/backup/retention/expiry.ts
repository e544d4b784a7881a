// Retention, from the view of one Backup that has ended: it is told that it goes, claimed, removed from the repository, and deleted.
//
// Each write can be the last one of an operator: the next operator goes on from the stored marks. The full backup of a chain acts for all
// that build on it. The claim is written before the Restores are read, and a Restore reads the claims before it begins: one of the two sees
// the other.
import { reasons } from "../../../api/reasons.ts";
import { after, awaitChange, type Result } from "../../../runtime/controller/result.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { dependentsOf, hasExpired, isFull, readersOfChain } from "../../database/backups.ts";
import { type Archived, isArchived } from "../../desired/store.ts";
import { type Backup, backups, type Restore, restores } from "../../kinds/sampledb-io.ts";
import { begin, follow, release, taskOf } from "../run.ts";
import type { Scope } from "../scope.ts";
import type { BackupState } from "../state.ts";
import { type Going, goingFrom, hasNothing } from "./beyond.ts";
import { type MarkReason, mark, markOf, secondsUntilDue, unmark, whyGoing } from "./mark.ts";

/** The lock is free again, or a Restore is over. */
const lookAgainSeconds = 10;
const soonSeconds = 1;

export async function retention(scope: Scope): Promise<Result> {
  const { backup, db, run, siblings } = scope;
  const told = markOf(backup);
  if (hasExpired(backup)) return await deleteObjects(scope);
  if (run && taskOf(run) === "expire") return await followExpiry(scope, run);
  const going = db && isArchived(db) ? goingIn(scope, db, siblings) : undefined;
  if (!going || !db || !isArchived(db)) {
    await unmark(scope, backup);
    return awaitChange;
  }
  const due = told ? secondsUntilDue(told, siblings, scope.deps.now()) : going.byNewBackup ? 0 : undefined;
  if (!told || due !== 0) {
    await announce(scope, db, going);
    return due === undefined ? awaitChange : after(Math.max(soonSeconds, due));
  }
  // The others of a chain wait: the full one acts for them.
  return going.head.metadata.uid === backup.metadata.uid ? await expire(scope, db, going) : awaitChange;
}

/** The chain that goes and that this Backup belongs to. */
function goingIn({ backup }: Scope, db: Archived, all: readonly Backup[]): Going | undefined {
  const isOwn = ({ metadata }: Backup) => metadata.uid === backup.metadata.uid;
  return goingFrom(db, all).find((chain) => isOwn(chain.head) || chain.dependents.some(isOwn));
}

/** Leaves an existing mark as it is: the notice counts from its lastTransitionTime. */
async function announce(scope: Scope, db: Archived, going: Going): Promise<void> {
  const { backup, deps } = scope;
  if (markOf(backup)) return;
  const why = whyGoing(going, db);
  if (going.byNewBackup) return await mark(scope, backup, reasons.beyondRetention, why);
  const message = `${why}: it goes after the next Backup that succeeds, in an hour at the earliest; set deletionPolicy to Retain to keep it`;
  await mark(scope, backup, reasons.retentionChanged, message);
  const content = { type: "Normal", reason: reasons.retentionChanged, action: "Expire" } as const;
  deps.events.record(backup, { ...content, note: message });
  deps.events.record(db, { ...content, note: `Backup ${backup.metadata.name}: ${message}` });
}

async function expire(scope: Scope, db: Archived, going: Going): Promise<Result> {
  const { backup, client, key, deps, lock } = scope;
  const why = whyGoing(going, db);
  const chain: readonly [Backup, ...Backup[]] = [going.head, ...going.dependents];
  const wait = async (reason: MarkReason, message: string) => {
    for (const each of chain) await mark(scope, each, reason, message);
    return after(lookAgainSeconds);
  };
  const first = goingFrom(db, scope.siblings).find((other) => isDue(scope, other));
  if (first && first.head.metadata.uid !== backup.metadata.uid)
    return await wait(reasons.beyondRetention, `${why}: it goes after Backup ${first.head.metadata.name}`);
  if (lock) return await wait(reasons.beyondRetention, `${why}: it goes when Job ${lock.metadata.name} has ended`);
  const seen = readersOfChain(chain, deps.cache.watched(restores).list());
  if (seen.length > 0) return await wait(reasons.beyondRetention, `${why}: it goes when ${namesOf(seen)} is over`);
  for (const each of chain) await mark(scope, each, reasons.artefactExpiring, `${why}: it is removed from the repository`);
  if (hasNothing(backup)) {
    await mark(scope, backup, reasons.artefactExpired, `${why}; nothing of it lies in the repository`);
    return after(soonSeconds);
  }
  // Read live: a cache that is behind may miss a Restore that has just begun, or that the newest good Backup was deleted.
  const { items: readers } = await client.list(restores, { namespace: key.namespace });
  const found = readersOfChain(chain, readers);
  if (found.length > 0) return await wait(reasons.beyondRetention, `${why}: it goes when ${namesOf(found)} is over`);
  const { items } = await client.list(backups, { namespace: key.namespace });
  const live = goingIn(
    scope,
    db,
    items.filter(({ spec }) => spec.sampleDBName === backup.spec.sampleDBName),
  );
  if (!live) return after(soonSeconds); // the cache will show it too
  const begun = await begin(scope, db, { task: "expire", dependents: live.dependents });
  return begun.kind === "running" ? after(lookAgainSeconds) : await wait(reasons.beyondRetention, `${why}: ${wordsOf(begun)}`);
}

/** One after the other: they take the same lock. */
function isDue({ siblings, deps }: Scope, { head, byNewBackup }: Going): boolean {
  const told = markOf(head);
  return told ? secondsUntilDue(told, siblings, deps.now()) === 0 : byNewBackup;
}

async function followExpiry(scope: Scope, run: NonNullable<Scope["run"]>): Promise<Result> {
  const { backup, deps } = scope;
  const stands = await follow(scope, run);
  if (stands === "expired") return await expired(scope);
  if (stands !== "lost" && stands.kind === "running") return after(lookAgainSeconds);
  const message = `it could not be removed from the repository: ${wordsOf(stands)}`;
  for (const each of chainOf(scope)) await mark(scope, each, reasons.expiryFailed, message);
  await release(scope, run);
  deps.events.record(backup, { type: "Warning", reason: reasons.expiryFailed, action: "Expire", note: message });
  return after(lookAgainSeconds);
}

/** The repository has no more of this Backup and of those that build on it: their objects say so before they go. */
export async function expired(scope: Scope): Promise<Result> {
  const { backup, deps } = scope;
  const message = "what lay in the repository is gone";
  for (const each of chainOf(scope)) await mark(scope, each, reasons.artefactExpired, message);
  deps.events.record(backup, { type: "Normal", reason: reasons.artefactExpired, action: "Expire", note: message });
  return await deleteObjects(scope);
}

/** Those that build on it first: the full one is what brings the operator back here. */
async function deleteObjects(scope: Scope): Promise<Result> {
  for (const each of chainOf(scope)) {
    if (each.metadata.deletionTimestamp !== undefined) continue;
    await scope.client.delete(backups, keyOf(each), { uid: each.metadata.uid }).catch(ignoreNotFound);
  }
  return awaitChange;
}

/** A full backup goes with all that build on it. Of others the labels do not tell for certain what builds on them: each has its own Job. */
function chainOf({ backup, siblings }: Scope): Backup[] {
  return [...(isFull(backup) ? dependentsOf(backup, siblings) : []), backup];
}

const namesOf = (readers: readonly Restore[]) => `Restore ${readers.map(({ metadata }) => metadata.name).join(", ")}`;

export const wordsOf = (stands: BackupState | "lost" | "expired") =>
  typeof stands === "string" ? "its Pod was lost" : "message" in stands ? stands.message : stands.kind;

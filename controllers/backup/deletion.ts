// A Backup that is being deleted: its artefact is removed from the repository or stays, as `deletionPolicy` says.
import { conditionTypes } from "../../api/conditions.ts";
import { reasons } from "../../api/reasons.ts";
import { conditionsNow } from "../../runtime/controller/conditions.ts";
import { finished } from "../../runtime/controller/finalizer.ts";
import { after, type Result } from "../../runtime/controller/result.ts";
import { dependentsOf, hasExpired, readersOf, whyNeeded } from "../database/backups.ts";
import { namespaceGoes } from "../database/namespace.ts";
import { isArchived, isInRepositoryOf, type ToldPlace } from "../desired/store.ts";
import { backups, type Restore, restores } from "../kinds/sampledb-io.ts";
import { expired, wordsOf } from "./retention/expiry.ts";
import { begin, follow, release, taskOf } from "./run.ts";
import type { Scope } from "./scope.ts";

/** The Job goes first: the API server deletes it in the background. */
const goesSeconds = 2;
const soonSeconds = 1;
/** What keeps the artefact may end by itself, as when another Backup succeeds. */
const lookAgainSeconds = 10;
/** A store that is away may be back then. */
const tryAgainSeconds = 60;

export async function deletion(scope: Scope): Promise<Result | typeof finished> {
  const { backup, db, run, lock, deps } = scope;
  const { label, startTime } = backup.status ?? {};
  if (run && taskOf(run) !== "expire") {
    await release(scope, run); // its Pod is told to end; what it has copied is removed next, or stays, as the policy says
    return after(goesSeconds);
  }
  // Once its Job was made, the repository may have all of it, although no status names it: the Job that removes it looks for its uid.
  const hasLeftNothing = label === undefined && !(startTime !== undefined && db && isArchived(db));
  const stays = backup.spec.deletionPolicy === "Retain" || hasLeftNothing || hasExpired(backup);
  // In a namespace that goes, no Job can be made, and an object that waits would keep the namespace from going: the artefact stays.
  if (stays || (await namespaceGoes(scope.client, scope.key.namespace))) {
    if (!run) return finished;
    await release(scope, run);
    return after(goesSeconds);
  }
  if (run) {
    const stands = await follow(scope, run);
    if (stands === "expired") {
      await expired(scope); // with the same Job, those may be gone that build on it
      return after(soonSeconds);
    }
    if (stands !== "lost" && stands.kind === "running") return await tell(scope, reasons.artefactRemoving, removing, { isClaimed: true });
    await release(scope, run); // it can be repeated
    return await tell(scope, reasons.artefactRemoving, `${removing}; it is tried again: ${wordsOf(stands)}`, { seconds: tryAgainSeconds });
  }
  if (!(db && isArchived(db))) return await tell(scope, reasons.artefactNeeded, unreachable);
  const { repository } = backup.status ?? {};
  if (!isInRepositoryOf(db, repository)) return await tell(scope, reasons.artefactNeeded, elsewhere(repository));
  const whyStays = (all: readonly Restore[]) => label && whyNeeded(backup, scope.siblings, readersOf(backup, all));
  const needed = whyStays(deps.cache.watched(restores).list());
  if (needed) return await tell(scope, reasons.artefactNeeded, needed);
  if (lock) return await tell(scope, reasons.artefactRemoving, `${removing}, when Job ${lock.metadata.name} has ended`);
  // The claim first, then the live look: a Restore looks for the claim before it begins.
  const claimed = await tell(scope, reasons.artefactRemoving, removing, { isClaimed: true });
  const readNow = whyStays((await scope.client.list(restores, { namespace: scope.key.namespace })).items);
  if (readNow) return await tell(scope, reasons.artefactNeeded, readNow);
  const dependents = dependentsOf(backup, scope.siblings).filter(({ spec }) => spec.deletionPolicy === "Delete");
  const begun = await begin(scope, db, { task: "expire", dependents });
  // No Job, no claim: every Restore from this archive would wait for it. If the cache has not seen the claim yet, the next look takes it back.
  return begun.kind === "running"
    ? claimed
    : await tell(scope, reasons.artefactRemoving, `${removing}; it is tried again: ${wordsOf(begun)}`);
}

const removing = "what lies in the repository is being removed";
const unreachable =
  "what lies in the repository can't be removed, because the SampleDB is gone or has no spec.backup; set deletionPolicy to Retain to let this object go";

function elsewhere({ s3, volumeClaimName }: Partial<ToldPlace> = {}): string {
  const place = s3 ? `bucket ${s3.bucket} of ${s3.endpoint}, folder ${s3.prefix}` : `claim ${volumeClaimName}`;
  return `it lies in ${place}, and the SampleDB has another repository now; set deletionPolicy to Retain to let this object go, and remove what lies there yourself`;
}

/** Only the conditions change: the rest says what lies in the repository. */
async function tell(
  { backup, objects, deps }: Scope,
  reason: typeof reasons.artefactRemoving | typeof reasons.artefactNeeded,
  message: string,
  { seconds = lookAgainSeconds, isClaimed = false } = {},
): Promise<Result> {
  const before = backup.status?.conditions;
  const status = before?.find(({ type }) => type === conditionTypes.succeeded)?.status ?? "Unknown";
  const claim = { type: conditionTypes.expiring, status: "True", reason: reasons.artefactExpiring, message } as const;
  const now = [{ type: conditionTypes.succeeded, status, reason, message }, ...(isClaimed ? [claim] : [])];
  await objects.applyStatus(backups, backup, {
    ...backup.status,
    conditions: conditionsNow(before, now, backup.metadata.generation, deps.now),
  });
  return after(seconds);
}

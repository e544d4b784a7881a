// A Backup that is being deleted: its artefact is removed from the repository or stays, as `deletionPolicy` says.
import { conditionTypes } from "../../api/conditions.ts";
import { reasons } from "../../api/reasons.ts";
import { conditionsNow } from "../../runtime/controller/conditions.ts";
import { finished } from "../../runtime/controller/finalizer.ts";
import { after, type Result } from "../../runtime/controller/result.ts";
import { Forbidden } from "../../runtime/kube/errors.ts";
import { readersOf, whyNeeded } from "../database/backups.ts";
import { isArchived } from "../desired/store.ts";
import { namespaces } from "../kinds/kubernetes.ts";
import { backups, restores } from "../kinds/sampledb-io.ts";
import { begin, follow, release, taskOf } from "./run.ts";
import type { Scope } from "./scope.ts";
import type { BackupState } from "./state.ts";

/** The Job goes first: the API server deletes it in the background. */
const goesSeconds = 2;
/** What keeps the artefact may end by itself, as when another Backup succeeds. */
const lookAgainSeconds = 10;
/** A store that is away may be back then. */
const tryAgainSeconds = 60;

export async function deletion(scope: Scope): Promise<Result | typeof finished> {
  const { backup, db, run, lock, deps } = scope;
  const { label } = backup.status ?? {};
  if (run && taskOf(run) !== "expire") {
    await release(scope, run); // its Pod is told to end; what it had copied is removed by the next expiry
    return after(goesSeconds);
  }
  const stays = backup.spec.deletionPolicy === "Retain" || label === undefined;
  if (stays || (await namespaceGoes(scope))) {
    if (!run) return finished;
    await release(scope, run);
    return after(goesSeconds);
  }
  if (run) {
    const stands = follow(scope, run);
    if (stands === "expired") {
      await release(scope, run);
      return finished;
    }
    if (stands !== "lost" && stands.kind === "running") return await tell(scope, reasons.artefactRemoving, removing);
    await release(scope, run); // it can be repeated
    return await tell(scope, reasons.artefactRemoving, `${removing}; it is tried again: ${wordsOf(stands)}`, tryAgainSeconds);
  }
  if (!(db && isArchived(db))) return await tell(scope, reasons.artefactNeeded, unreachable);
  const needed = whyNeeded(backup, scope.siblings, readersOf(backup, deps.cache.watched(restores).list()));
  if (needed) return await tell(scope, reasons.artefactNeeded, needed);
  if (lock) return await tell(scope, reasons.artefactRemoving, `${removing}, when Job ${lock.metadata.name} has ended`);
  await begin(scope, db, { task: "expire", label });
  return await tell(scope, reasons.artefactRemoving, removing);
}

/** Nothing can be made in such a namespace, so the artefact stays. An object that waits would keep the namespace from going. */
async function namespaceGoes({ client, key }: Scope): Promise<boolean> {
  const found = await client.find(namespaces, { namespace: "", name: key.namespace }).catch((error: unknown) => {
    if (error instanceof Forbidden) return undefined; // an operator of one namespace may not look
    throw error;
  });
  return found?.metadata.deletionTimestamp !== undefined;
}

const removing = "what lies in the repository is being removed";
const unreachable =
  "what lies in the repository can't be removed, because the SampleDB is gone or has no spec.backup; set deletionPolicy to Retain to let this object go";

const wordsOf = (stands: BackupState | "lost") =>
  stands === "lost" ? "its Pod was lost" : "message" in stands ? stands.message : stands.kind;

/** Only the condition changes: the rest says what lies in the repository. */
async function tell(
  { backup, objects, deps }: Scope,
  reason: typeof reasons.artefactRemoving | typeof reasons.artefactNeeded,
  message: string,
  seconds = lookAgainSeconds,
): Promise<Result> {
  const before = backup.status?.conditions;
  const status = before?.find(({ type }) => type === conditionTypes.succeeded)?.status ?? "Unknown";
  const now = { type: conditionTypes.succeeded, status, reason, message };
  const conditions = conditionsNow(before, [now], backup.metadata.generation, deps.now);
  await objects.applyStatus(backups, backup, { ...backup.status, conditions });
  return after(seconds);
}

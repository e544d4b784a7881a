// One reconcile of a Backup, on one screen: gather the scope, go one step on, write the status.
import { backupFinalizer } from "../../api/labels.ts";
import { reasons } from "../../api/reasons.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import { withFinalizer } from "../../runtime/controller/finalizer.ts";
import { after, awaitChange, type Result } from "../../runtime/controller/result.ts";
import { hasEnded } from "../database/ended.ts";
import { isArchived, pgBackRestFile, stanzaIn } from "../desired/store.ts";
import { type Backup, backups } from "../kinds/sampledb-io.ts";
import { backupOperation } from "../permits/cached-permits.ts";
import { deletion } from "./deletion.ts";
import { hindrance } from "./hindrances.ts";
import { retention } from "./retention/expiry.ts";
import { begin, follow, release, taskOf } from "./run.ts";
import { type Dependencies, openScope, type Scope } from "./scope.ts";
import { type BackupState, failed, waiting } from "./state.ts";
import { computeStatus } from "./status.ts";

/** No watch tells that a backup has gone on, or that a node is lost. */
const lookAgainSeconds = 10;
/** The Job goes once the status says how it ended. No watch might cause the reconcile that removes it, so this does. */
const releaseSeconds = 1;

export async function reconcile(request: Request, deps: Dependencies): Promise<Result> {
  const backup = deps.cache.watched(backups).get(request.key);
  if (!backup) return awaitChange;
  return await withFinalizer({
    ...{ client: request.client, resource: backups, object: backup, finalizer: backupFinalizer },
    reconcile: (held) => keep(openScope(held, request, deps)),
    cleanup: (going) => deletion(openScope(going, request, deps)),
  });
}

async function keep(scope: Scope): Promise<Result> {
  const { backup, run } = scope;
  if (hasEnded(backup)) {
    if (run && taskOf(run) !== "expire") await release(scope, run); // the stored status has its outcome
    return await retention(scope);
  }
  const state = await goOn(scope);
  await tell(scope, state);
  return after(state.kind === "succeeded" || state.kind === "failed" ? releaseSeconds : lookAgainSeconds);
}

async function goOn(scope: Scope): Promise<BackupState> {
  const { backup, db, run } = scope;
  const isAdopted = run !== undefined && taskOf(run) === "adopt";
  if (run) {
    const stands = await follow(scope, run);
    if (stands !== "lost" && stands !== "expired") return stands;
    if (isAdopted) return failed(reasons.backupLost, "its Pod was lost, and so was the one that looked for what it had made");
    await release(scope, run); // when the Job is gone, the next reconcile asks the repository
    return looking;
  }
  const hasBegun = backup.status?.startTime !== undefined;
  if (hasBegun && !(db && isArchived(db)))
    return failed(reasons.backupLost, "its Pod was lost, and the SampleDB has no repository any more");
  const stopped = hasBegun ? undefined : hindrance({ ...scope, now: scope.deps.now() });
  if (stopped) return stopped;
  if (!(db && isArchived(db))) throw new Error("a Backup that can begin has a SampleDB with a repository");
  if (hasBegun && scope.lock) return looking; // the lost Job still goes, or another Backup was faster
  if (!hasBegun) {
    const permit = await scope.deps.permits.ask(backupOperation(scope.deps.cache, backup));
    return permit.granted ? await begin(scope, db, { task: "backup" }) : waiting(reasons.turnAwaited, permit.message);
  }
  const begun = await begin(scope, db, { task: "adopt" });
  return begun.kind === "running" ? looking : begun;
}

const looking = {
  kind: "running",
  reason: reasons.runVerifying,
  message: "its Pod was lost: the repository is asked whether the backup is whole",
} as const satisfies BackupState;

/** Writes the status once. An Event tells the end. */
async function tell(scope: Scope, state: BackupState): Promise<void> {
  const { backup, db, deps, objects, repository } = scope;
  const stanza = stanzaIn(repository?.data?.[pgBackRestFile] ?? "");
  const source = db && isArchived(db) && stanza ? { db, stanza } : undefined;
  const status = computeStatus({ backup, state, source, now: deps.now });
  await objects.applyStatus(backups, backup, status);
  if (state.kind === "failed") deps.events.record(backup, { type: "Warning", reason: state.reason, action: "BackUp", note: state.message });
  if (state.kind === "succeeded")
    deps.events.record(backup, { type: "Normal", reason: reasons.backupSucceeded, action: "BackUp", note: toldEnd(backup, state) });
}

function toldEnd({ spec }: Backup, { end }: Extract<BackupState, { kind: "succeeded" }>): string {
  const asked = { Full: "full", Differential: "diff", Incremental: "incr" }[spec.type];
  const other = asked === end.type ? "" : `, as a ${end.type} one, because there was none to build on`;
  return `${end.label} is in the repository${other}`;
}

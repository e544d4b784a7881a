// The scope of one reconcile of a Restore: everything that it reads and uses, gathered once.
import type { Request } from "../../runtime/controller/builder.ts";
import { isControlledBy } from "../../runtime/kube/object.ts";
import { backupsOf } from "../database/backups.ts";
import type { Passwords } from "../database/passwords.ts";
import { observeDatabase } from "../database/view.ts";
import { namesOf } from "../desired/names.ts";
import type { RunDependencies } from "../jobs/run.ts";
import { type FoundJob, findJob } from "../jobs/runner.ts";
import { type PersistentVolumeClaim, persistentVolumeClaims } from "../kinds/kubernetes.ts";
import { backups, type Restore, restores, type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import type { Permits } from "../permits/permits.ts";
import type { DescribedEvents } from "../telling/described-events.ts";
import type { Seen } from "./source.ts";

export interface Dependencies extends RunDependencies {
  readonly events: DescribedEvents;
  readonly passwords: Passwords;
  readonly permits: Permits;
}

export interface Scope extends Request, Seen {
  readonly restore: Restore;
  readonly deps: Dependencies;
  /** The SampleDB of the destination's name. */
  readonly destination: SampleDB | undefined;
  /** Data claims of the destination's name that this Restore has not made. */
  readonly claims: readonly PersistentVolumeClaim[];
  /** Other Restores to the same name. */
  readonly rivals: readonly Restore[];
  readonly run: FoundJob | undefined;
}

export function openScope(restore: Restore, request: Request, deps: Dependencies): Scope {
  const { cache } = deps;
  const { namespace } = request.key;
  const { source, destination } = restore.spec;
  const key = (name: string) => ({ namespace, name });
  const named = { metadata: key(destination.sampleDBName) };
  const isRival = ({ metadata, spec }: Restore) =>
    metadata.namespace === namespace && metadata.uid !== restore.metadata.uid && spec.destination.sampleDBName === destination.sampleDBName;
  return {
    ...request,
    restore,
    deps,
    backup: source.backupName === undefined ? undefined : cache.watched(backups).get(key(source.backupName)),
    backups: source.sampleDBName === undefined ? [] : backupsOf(cache, key(source.sampleDBName)),
    claim: (name) => cache.watched(persistentVolumeClaims).get(key(name)),
    repositoryRuns: (name) =>
      isKept(cache.watched(sampledbs).get(key(name))) && observeDatabase({ metadata: key(name) }, cache).repository.pod !== undefined,
    destination: cache.watched(sampledbs).get(named.metadata),
    claims: [...observeDatabase(named, cache).claims.values()].filter((claim) => !isControlledBy(claim, restore)),
    rivals: cache.watched(restores).list().filter(isRival),
    run: findJob(cache, restore, key(namesOf(named).restore)),
  };
}

/** The repository's Pod of a SampleDB that is deleted goes with it. A Job that has to run beside that Pod would never start. */
function isKept(db: SampleDB | undefined): boolean {
  return db !== undefined && db.metadata.deletionTimestamp === undefined;
}

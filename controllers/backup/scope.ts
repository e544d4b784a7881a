// The scope of one reconcile of a Backup: everything that it reads and uses, gathered once.
import { deletionPolicyOf } from "../../api/deletion-policy.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import { backupsOf } from "../database/backups.ts";
import { type DatabaseView, observeDatabase } from "../database/view.ts";
import { belongsTo } from "../desired/identity.ts";
import { finalBackupName, namesOf } from "../desired/names.ts";
import type { RunDependencies } from "../jobs/run.ts";
import { type FoundJob, findJob } from "../jobs/runner.ts";
import type { ConfigMap, Job } from "../kinds/kubernetes.ts";
import { jobs } from "../kinds/kubernetes.ts";
import { type Backup, type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import type { Permits } from "../permits/permits.ts";
import type { DescribedEvents } from "../telling/described-events.ts";

export interface Dependencies extends RunDependencies {
  readonly events: DescribedEvents;
  readonly permits: Permits;
}

export interface Scope extends Request {
  readonly backup: Backup;
  readonly deps: Dependencies;
  /** Undefined where there is none, or one that is being deleted: only its last Backup is made then. */
  readonly db: SampleDB | undefined;
  readonly observed: DatabaseView;
  /** The repository's own ConfigMap. Undefined where it is not made for this SampleDB. */
  readonly repository: ConfigMap | undefined;
  /** All Backups of the SampleDB, in the order of their creation. */
  readonly siblings: readonly Backup[];
  /** The Job of this Backup. */
  readonly run: FoundJob | undefined;
  /** Whatever Job has the name: it is the lock of the repository. */
  readonly lock: Job | undefined;
}

export function openScope(backup: Backup, request: Request, deps: Dependencies): Scope {
  const { cache } = deps;
  const { namespace } = request.key;
  const database = { metadata: { namespace, name: backup.spec.sampleDBName } };
  const found = cache.watched(sampledbs).get(database.metadata);
  const observed = observeDatabase(database, cache);
  const key = { namespace, name: namesOf(database).backup };
  const { config } = observed.repository;
  return {
    ...request,
    backup,
    deps,
    db: found?.metadata.deletionTimestamp === undefined || isFinal(backup, found) ? found : undefined,
    observed,
    repository: config && belongsTo(database, config) ? config : undefined,
    siblings: backupsOf(cache, database.metadata),
    run: findJob(cache, backup, key),
    lock: cache.watched(jobs).get(key),
  };
}

/** The last Backup of a SampleDB that is being deleted with `Snapshot`. */
function isFinal(backup: Backup, going: SampleDB): boolean {
  return deletionPolicyOf(going.spec) === "Snapshot" && backup.metadata.name === finalBackupName(going);
}

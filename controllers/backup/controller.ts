// The controller of Backups: which changes of which objects cause a reconcile. controllers/watches.ts declares the watches.
import { taskAnnotation } from "../../api/annotations.ts";
import { labelNames } from "../../api/labels.ts";
import { ControllerBuilder, type ControllerDefinition, type ReconcileOptions } from "../../runtime/controller/builder.ts";
import { anyOf, generationChanged, whenChanged } from "../../runtime/controller/predicates.ts";
import { keyOf } from "../../runtime/kube/object.ts";
import { backupsOf } from "../database/backups.ts";
import { hasEnded } from "../database/ended.ts";
import { backupComponent } from "../desired/backup.ts";
import { type Job, jobs, type Pod, pods } from "../kinds/kubernetes.ts";
import { type Backup, backups, sampledbs } from "../kinds/sampledb-io.ts";
import { databaseOf } from "../watches.ts";
import { reconcile } from "./reconcile.ts";
import type { Dependencies } from "./scope.ts";

/** The status is the controller's own: it causes no reconcile. Another finalizer may keep a Backup that is being deleted. */
const backupChanged = anyOf<Backup>(
  generationChanged,
  whenChanged((now, before) => JSON.stringify(now.metadata.finalizers) !== JSON.stringify(before.metadata.finalizers)),
);

/** What retention looks at: that a Backup has ended, whether it may go, and that one is gone. */
const concernsOthers = anyOf<Backup>(
  generationChanged,
  whenChanged((now, before) => hasEnded(now) !== hasEnded(before)),
);

export function backupController(deps: Dependencies, options: ReconcileOptions): ControllerDefinition {
  /** All Backups of the database that are not over: the end of one Job lets the next begin. */
  const open = (object: Job | Pod) => databaseOf(object).flatMap((database) => backupsOf(deps.cache, database).filter(isOpen).map(keyOf));
  /** The others of the database: one that succeeded may be the last that an older one was kept for. */
  const siblings = ({ metadata: { namespace = "" }, spec }: Backup) =>
    backupsOf(deps.cache, { namespace, name: spec.sampleDBName }).filter(hasEnded).map(keyOf);
  return ControllerBuilder.for("backup", backups, backupChanged)
    .owns(jobs)
    .watches(jobs, (job) => (job.metadata.annotations?.[taskAnnotation] === undefined ? [] : open(job)))
    .watches(backups, siblings, concernsOthers)
    .watches(
      sampledbs,
      ({ metadata: { namespace = "", name } }) => backupsOf(deps.cache, { namespace, name }).map(keyOf),
      generationChanged,
    )
    .watches(pods, (pod) => (pod.metadata.labels?.[labelNames.component] === backupComponent ? open(pod) : []))
    .reconcile((request) => reconcile(request, deps), options);
}

const isOpen = (backup: Backup) => !hasEnded(backup) || backup.metadata.deletionTimestamp !== undefined;

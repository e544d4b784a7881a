// The controller of Restores: which changes of which objects cause a reconcile. controllers/watches.ts declares the watches.
import { restoredByAnnotation } from "../../api/annotations.ts";
import { labelNames } from "../../api/labels.ts";
import { ControllerBuilder, type ControllerDefinition, type ReconcileOptions } from "../../runtime/controller/builder.ts";
import { generationChanged } from "../../runtime/controller/predicates.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { keyOf } from "../../runtime/kube/object.ts";
import { restoreClaimOf } from "../database/in-place.ts";
import { restoreComponent } from "../desired/restore.ts";
import { jobs, type Pod, pods } from "../kinds/kubernetes.ts";
import { restores, type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { reconcile } from "./reconcile.ts";
import type { Dependencies } from "./scope.ts";

export function restoreController(deps: Dependencies, options: ReconcileOptions): ControllerDefinition {
  const of = (isOne: (restore: { readonly uid: string | undefined; readonly destination: string }) => boolean) =>
    deps.cache
      .watched(restores)
      .list()
      .filter(({ metadata: { uid }, spec: { destination } }) => isOne({ uid, destination: destination.sampleDBName }))
      .map(keyOf);
  const ofPod = ({ metadata: { labels } }: Pod) =>
    labels?.[labelNames.component] === restoreComponent ? of(({ destination }) => destination === labels[labelNames.database]) : [];
  const ofClaimed = (db: SampleDB) => {
    const claim = restoreClaimOf(db);
    return claim ? of(({ uid }) => uid === claim.uid) : [];
  };
  const ofMade = ({ metadata: { annotations } }: KubeObject) => {
    const restoredBy = annotations?.[restoredByAnnotation];
    return restoredBy === undefined ? [] : of(({ uid }) => uid === restoredBy);
  };
  return ControllerBuilder.for("restore", restores, generationChanged)
    .owns(jobs)
    .watches(pods, ofPod)
    .watches(sampledbs, (db) => [...ofMade(db), ...ofClaimed(db)])
    .reconcile((request) => reconcile(request, deps), options);
}

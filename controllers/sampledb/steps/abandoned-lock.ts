// A primary that is killed gives its lock back when it is started again. Where the kubelet lets it wait, as after a second kill within
// ten minutes, the others would wait until the lock has run out. The kubelet's word that it has ended is enough to take the lock from it.
import { done } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { type ConfigMap, configMaps } from "../../kinds.ts";
import type { SampleDBStep } from "../scope.ts";

export const abandonedLock: SampleDBStep = async ({ db, observed, client, deps }) => {
  const { leader, primary, instances, commitsWait } = observed;
  // Where commits wait for nobody it is to recover by itself: a replica may lack what was acknowledged.
  const mayBeReplaced = commitsWait && instances.some((instance) => instance !== primary && instance.mayTakeOver);
  if (!leader || !primary?.ended || !mayBeReplaced || isRenewedSince(leader, primary.ended.at)) return done;
  // Of the lock as it was read: whoever has renewed or taken it since keeps it.
  const { resourceVersion } = leader.metadata;
  await client.mergePatch(configMaps, keyOf(leader), { metadata: { resourceVersion, annotations: { leader: null } } });
  const { reason, exitCode } = primary.ended;
  const note = `${primary.podName} has ended (${reason}, exit code ${exitCode}): another is elected at once`;
  deps.events.record(db, { type: "Warning", reason: "PrimaryEnded", action: "Failover", note });
  return done;
};

/** By the next container: the Pod's status may be behind. Both moments are by the clock of the instance's node, the end in whole seconds. */
function isRenewedSince({ metadata }: ConfigMap, end: string): boolean {
  const renewed = Date.parse(metadata.annotations?.["renewTime"] ?? "");
  return !(renewed < Date.parse(end) + 1000);
}

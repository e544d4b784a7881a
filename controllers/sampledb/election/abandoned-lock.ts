// A primary that is killed gives its lock back when it is started again. Where the kubelet lets it wait, as after a second kill within
// ten minutes, the others would wait until the lock has run out. The kubelet's word that it has ended is enough to take the lock from it.
import { reasons } from "../../../api/reasons.ts";
import { done } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { endOf, type Instance } from "../../database/instance.ts";
import { type ConfigMap, configMaps, pods } from "../../kinds/kubernetes.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

export const abandonedLock: SampleDBStep = async (scope) => {
  const { db, observed, client, deps } = scope;
  const { leader, primary } = observed;
  if (!leader || !primary?.ended || isRenewedSince(leader, primary.ended.at) || !mayBeReplaced(observed)) return done;
  if (!(await hasEndedStill(scope, primary))) return done;
  // Of the lock as it was read: whoever has renewed or taken it since keeps it.
  const { resourceVersion } = leader.metadata;
  await client.mergePatch(configMaps, keyOf(leader), { metadata: { resourceVersion, annotations: { leader: null } } });
  const { reason, exitCode } = primary.ended;
  const note = `${primary.podName} has ended (${reason}, exit code ${exitCode}): another is elected at once`;
  deps.events.record(db, { type: "Warning", reason: reasons.primaryEnded, action: "Failover", note });
  return done;
};

/**
 * Where commits wait for nobody it is to recover by itself: a replica may lack what was acknowledged. Whoever is named by an order leads
 * without asking whether the last primary is down, so an order is waited for.
 */
function mayBeReplaced({ commitsWait, instances, primary, failover }: Scope["observed"]): boolean {
  const isOrdered = failover?.metadata.annotations?.["member"] !== undefined;
  const couldLead = (instance: Instance) => instance !== primary && instance.mayTakeOver && !instance.going && !instance.ended;
  return commitsWait && !isOrdered && instances.some(couldLead);
}

/** By the next container: the Pod's status may be behind. Both moments are by the clock of its node, the end in whole seconds. */
function isRenewedSince({ metadata }: ConfigMap, end: string): boolean {
  const renewed = Date.parse(metadata.annotations?.["renewTime"] ?? "");
  return !(renewed < Date.parse(end) + 1000); // also where one of them can't be read
}

/** Asked of the API server: another Pod of its name may lead by now, on a node with another clock. */
async function hasEndedStill({ client, key: { namespace } }: Scope, { podName: name, uid }: Instance): Promise<boolean> {
  const pod = await client.find(pods, { namespace, name });
  return pod?.metadata.uid === uid && endOf(pod) !== undefined;
}

// Gives the lock of a primary back whose container has ended and is not started again.
//
// A primary that is killed gives its lock back when the kubelet starts it again. After a second kill within ten minutes the kubelet lets it
// wait, and the replicas would wait until the lock has run out. The kubelet's word that the container has ended is enough to take the lock.
import { reasons } from "../../../api/reasons.ts";
import { done } from "../../../runtime/controller/steps.ts";
import { endOf, type Instance } from "../../database/instance.ts";
import { pods } from "../../kinds/kubernetes.ts";
import type { LeaderLock } from "../../patroni/state.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

export const abandonedLock: SampleDBStep = async (scope) => {
  const { db, observed, client, deps } = scope;
  const { primary } = observed;
  const { lock } = observed.patroni;
  if (!lock || !primary?.ended || isRenewedSince(lock, primary.ended.at) || !mayBeReplaced(observed)) return done;
  if (!(await hasEndedStill(scope, primary))) return done;
  await lock.release(client);
  const { reason, exitCode } = primary.ended;
  const note = `${primary.podName} has ended (${reason}, exit code ${exitCode}): another is elected at once`;
  deps.events.record(db, { type: "Warning", reason: reasons.primaryEnded, action: "Failover", note });
  return done;
};

/**
 * Where commits wait for nobody, the primary is to recover by itself: a replica may lack commits that were acknowledged. An open order is
 * waited for: its candidate leads without asking whether the last primary is down.
 */
function mayBeReplaced({ commitsWait, instances, primary, patroni: { order } }: Scope["observed"]): boolean {
  const couldLead = (instance: Instance) => instance !== primary && instance.mayTakeOver && !instance.going && !instance.ended;
  return commitsWait && order?.to === undefined && instances.some(couldLead);
}

/** By the next container: the Pod's status may be behind. Both moments are by the clock of its node, the end in whole seconds. */
function isRenewedSince({ renewal }: LeaderLock, end: string): boolean {
  return !(Date.parse(renewal ?? "") < Date.parse(end) + 1000); // also where one of them can't be read
}

/** Asked of the API server: another Pod of its name may lead by now, on a node with another clock. */
async function hasEndedStill({ client, key: { namespace } }: Scope, { podName: name, uid }: Instance): Promise<boolean> {
  const pod = await client.find(pods, { namespace, name });
  return pod?.metadata.uid === uid && endOf(pod) !== undefined;
}

// Releases the leader lock of a primary whose container has ended and is not started again.
//
// A primary that is killed releases its lock when the kubelet starts it again. After a second kill within ten minutes, the kubelet delays
// the start, and the replicas would wait until the lock runs out. The kubelet's report that the container has ended is enough to release
// it.
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
 * Where commits wait for no replica, the primary must recover by itself: a replica may lack acknowledged commits. While Patroni has an open
 * order, the lock stays: the order's candidate would lead without asking whether the last primary is down.
 */
function mayBeReplaced({ commitsWait, instances, primary, patroni: { order } }: Scope["observed"]): boolean {
  const couldLead = (instance: Instance) => instance !== primary && instance.mayTakeOver && !instance.going && !instance.ended;
  return commitsWait && order?.to === undefined && instances.some(couldLead);
}

/**
 * True if a later container renewed the lock: the Pod's status is behind then. Both times are of one node's clock, the end in whole
 * seconds.
 */
function isRenewedSince({ renewal }: LeaderLock, end: string): boolean {
  return !(Date.parse(renewal ?? "") < Date.parse(end) + 1000); // also true where one of them can't be read
}

/** Asks the API server: another Pod of the name may lead by now, on a node with another clock. */
async function hasEndedStill({ client, key: { namespace } }: Scope, { podName: name, uid }: Instance): Promise<boolean> {
  const pod = await client.find(pods, { namespace, name });
  return pod?.metadata.uid === uid && endOf(pod) !== undefined;
}

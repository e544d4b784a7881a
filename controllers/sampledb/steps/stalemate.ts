// Nobody leads, and left to themselves nobody would. A former primary has more log than whoever has the newer history, which Patroni
// compares without asking whose it is; or commits waited for nobody but the last primary, and a person has said that it is gone for good.
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { namesOf } from "../../desired/names.ts";
import { configMaps, pods } from "../../kinds.ts";
import { type Candidate, heirOf } from "../heir.ts";
import { logPosition } from "../instance.ts";
import { givenUp, type SampleDBStep, type Scope } from "../scope.ts";

/** Twice as long as the lock is good for: whoever can be elected by the others is by then. */
const patienceSeconds = 40;
const lookAgainSeconds = 10;

export const stalemate: SampleDBStep = async (scope) => {
  const { db, observed, deps, findings } = scope;
  const { leader, primary, initialized } = observed;
  if (!leader || !initialized || primary?.ready) return done;
  const heir = heirOf(candidates(scope), { wanted: db.spec.replicas, givenUp: givenUp(db, observed) });
  if (!heir) return done;
  findings.blockers.push({
    reason: "Stalemate",
    message: `nobody leads, and ${heir} has the newest data`,
    remedy: `none is needed: it is told to lead when nobody has for ${patienceSeconds} s`,
  });
  // A lock that is renewed is another one each time.
  const { uid, annotations } = leader.metadata;
  const left = patienceSeconds - deps.durations.seconds(`${uid}/${annotations?.["renewTime"]}`);
  if (left > 0) return doneUntil(left);
  await orderToLead(scope, heir);
  return doneUntil(lookAgainSeconds);
};

function candidates({ observed: { instances }, deps, key }: Scope): Candidate[] {
  return instances.map((instance) => {
    const pod = deps.cache.watched(pods).get({ namespace: key.namespace, name: instance.podName });
    return { ...instance, position: pod && logPosition(pod) };
  });
}

/** By Patroni's own way. The image asks once more before it promotes: nobody leads who hears of a newer history. */
async function orderToLead(scope: Scope, heir: string): Promise<void> {
  const { db, observed, client, deps, key, findings } = scope;
  const { failover, leader } = observed;
  const lock = leader && (await client.find(configMaps, keyOf(leader)));
  const isRenewed = lock?.metadata.annotations?.["renewTime"] !== leader?.metadata.annotations?.["renewTime"];
  if (!failover || isRenewed || failover.metadata.annotations?.["member"] !== undefined) return;
  const sync = await client.find(configMaps, { namespace: key.namespace, name: namesOf(db).sync });
  const lost = givenUp(db, observed);
  if (sync && lost !== undefined && sync.metadata.annotations?.["leader"] === lost) {
    const { resourceVersion } = sync.metadata;
    const annotations = { leader: null, sync_standby: null, quorum: null };
    await client.mergePatch(configMaps, keyOf(sync), { metadata: { resourceVersion, annotations } });
  }
  findings.switchoverOrdered = true;
  await client.mergePatch(configMaps, keyOf(failover), { metadata: { annotations: { leader: null, member: heir } } });
  const note = `nobody has led for ${patienceSeconds} s: ${heir} is to, which has the newest data`;
  deps.events.record(db, { type: "Warning", reason: "FailoverOrdered", action: "Failover", note });
}

// Nobody leads, and left to themselves nobody would. A former primary has more log than whoever has the newer history, which Patroni
// compares without asking whose it is; or commits waited for nobody but the last primary, and a person has said that it is gone for good.
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { logPosition } from "../../database/instance.ts";
import { namesOf } from "../../desired/names.ts";
import { type ConfigMap, configMaps, pods } from "../../kinds/kubernetes.ts";
import { givenUp, type SampleDBStep, type Scope } from "../scope.ts";
import { type Candidate, heirOf } from "./heir.ts";

/** Twice as long as the lock is good for: whoever can be elected by the others is by then. */
const patienceSeconds = 40;
const lookAgainSeconds = 10;

export const stalemate: SampleDBStep = async (scope) => {
  const { db, observed, deps, findings } = scope;
  const { leader, primary, initialized } = observed;
  if (!leader) return done;
  const mayBe = initialized && !primary?.ready;
  const heir = mayBe ? heirOf(candidates(scope), { wanted: db.spec.replicas, givenUp: givenUp(db, observed) }) : undefined;
  const since = `${leader.metadata.uid}/nobody`;
  if (heir === undefined) {
    deps.durations.end(since);
    return done;
  }
  findings.blockers.push({
    reason: reasons.stalemate,
    message: `nobody leads, and ${heir} has the newest data`,
    remedy: `none is needed: it is told to lead when nobody has for ${patienceSeconds} s`,
  });
  const isHeld = holds(leader) !== undefined && deps.durations.seconds(`${leader.metadata.uid}/${renewal(leader)}`) < patienceSeconds;
  const left = patienceSeconds - deps.durations.seconds(since);
  if (left > 0) return doneUntil(left);
  if (!isHeld) await orderToLead(scope, leader, heir);
  return doneUntil(lookAgainSeconds);
};

/** Whoever is refused takes the lock too, for a moment and again and again. */
function holds({ metadata }: ConfigMap): string | undefined {
  return metadata.annotations?.["leader"] || undefined;
}

/** Another one each time. */
function renewal({ metadata }: ConfigMap): string | undefined {
  return metadata.annotations?.["renewTime"];
}

function candidates({ observed: { instances }, deps, key }: Scope): Candidate[] {
  return instances.map((instance) => {
    const pod = deps.cache.watched(pods).get({ namespace: key.namespace, name: instance.podName });
    return { ...instance, position: pod && logPosition(pod) };
  });
}

/** By Patroni's own way. The image asks once more before it promotes: nobody leads who hears of a newer history. */
async function orderToLead(scope: Scope, leader: ConfigMap, heir: string): Promise<void> {
  const { db, observed, client, deps, key, findings } = scope;
  const { failover } = observed;
  const now = await client.get(configMaps, keyOf(leader)); // the cache may be behind
  const isTaken = holds(now) !== undefined && renewal(now) !== renewal(leader);
  if (!failover || isTaken || failover.metadata.annotations?.["member"] !== undefined) return;
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
  deps.events.record(db, { type: "Warning", reason: reasons.failoverOrdered, action: "Failover", note });
}

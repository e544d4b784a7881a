// Appoints a leader where Patroni can't elect one.
//
// There are two causes. A former primary has more log than the instance on the newer timeline, and Patroni compares positions across
// timelines. Or only the last primary may lead, because commits waited for no other, and a person has said that its data is gone for good.
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { logPosition } from "../../database/instance.ts";
import { namesOf } from "../../desired/names.ts";
import { configMaps, pods } from "../../kinds/kubernetes.ts";
import { LeaderLock, Synchrony } from "../../patroni/state.ts";
import { toldSeconds } from "../../telling/blockers.ts";
import { givenUp } from "../orders/replacement-order.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { type Candidate, heirOf } from "./heir.ts";

/** Twice as long as the leader lock is good for: by then Patroni has elected a leader, if it can. */
const patienceSeconds = 40;
const lookAgainSeconds = 10;

export const stalemate: SampleDBStep = async (scope) => {
  const { db, observed, deps, findings } = scope;
  const { primary, initialized } = observed;
  const { lock } = observed.patroni;
  if (!lock) return done;
  const mayBe = initialized && !primary?.ready;
  const heir = mayBe ? heirOf(candidates(scope), { wanted: db.spec.replicas, givenUp: givenUp(db, observed) }) : undefined;
  const nobody = `${lock.uid}/nobody`;
  if (heir === undefined) {
    deps.patience.end(nobody);
    return done;
  }
  const blocker = {
    reason: reasons.stalemate,
    message: `nobody leads, and ${heir} has the newest data`,
    remedy: `none is needed: it is told to lead when nobody has for ${patienceSeconds} s`,
  };
  findings.blockers.push(blocker);
  // An instance that the image's may-promote refuses takes the lock, too, for a moment and again and again. A lock that is not renewed for
  // the patience has no live holder.
  const isHeld = lock.holder !== undefined && deps.patience.seconds(`${lock.uid}/${lock.renewal}`) < patienceSeconds;
  // Both the stored status and this process must have seen it for so long: the appointment can lose log that only another instance has.
  const waited = Math.min(deps.patience.seconds(nobody), toldSeconds(db.status?.blockers, blocker, deps.now()));
  if (waited < patienceSeconds) return doneUntil(Math.max(1, patienceSeconds - waited));
  if (!isHeld) await appoint(scope, lock, heir);
  return doneUntil(lookAgainSeconds);
};

function candidates({ observed: { instances }, deps, key }: Scope): Candidate[] {
  return instances.map((instance) => {
    const pod = deps.cache.watched(pods).get({ namespace: key.namespace, name: instance.podName });
    return { ...instance, position: pod && logPosition(pod) };
  });
}

/** By Patroni's order. The image's may-promote is the last check: it refuses an instance that hears of a newer timeline. */
async function appoint(scope: Scope, lock: LeaderLock, heir: string): Promise<void> {
  const { db, observed, client, deps, key, findings } = scope;
  const { order } = observed.patroni;
  const find = (name: string) => client.find(configMaps, { namespace: key.namespace, name });
  // From the API server, because the cache may be behind.
  const [lockNow, syncNow] = await Promise.all([find(namesOf(db).leader), find(namesOf(db).sync)]);
  const now = lockNow && new LeaderLock(lockNow);
  const isTaken = now?.holder !== undefined && now.renewal !== lock.renewal;
  if (!order || isTaken || order.to !== undefined) return;
  const synchrony = syncNow && new Synchrony(syncNow);
  const lost = givenUp(db, observed);
  if (lost !== undefined && synchrony?.leader === lost) await synchrony.forget(client);
  findings.switchoverOrdered = true;
  await order.appoint(client, heir);
  const note = `nobody has led for ${patienceSeconds} s: ${heir} is to, which has the newest data`;
  deps.events.record(db, { type: "Warning", reason: reasons.failoverOrdered, action: "Failover", note });
}

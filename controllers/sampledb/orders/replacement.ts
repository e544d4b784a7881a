// Carries out the order to make an instance anew whose volume or node is gone for good. Only a person knows that it won't come back.
import { replaceAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { leaderNow } from "../../database/view.ts";
import { claimName, ordinalOf, podName } from "../../desired/names.ts";
import { persistentVolumeClaims, pods } from "../../kinds/kubernetes.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { replacementOrder } from "./replacement-order.ts";
import { settleOrder } from "./settle-order.ts";

const lookAgainSeconds = 5;

export const replacement: SampleDBStep = async (scope) => {
  const { db, observed, client, deps, findings } = scope;
  const order = replacementOrder(db);
  if (!order) return done;
  const { name, claimed } = order;
  const refusal = whyNot(scope, name);
  if (refusal !== undefined) {
    deps.events.record(db, {
      type: "Warning",
      reason: reasons.replacementRefused,
      action: "Replace",
      note: `${refusal}; the order is dropped`,
    });
    await settleOrder(scope, replaceAnnotation, null);
    return done;
  }
  if (!observed.primary?.ready) {
    const message = `${name} is to be made anew, and there is no primary to copy from`;
    findings.blockers.push({ reason: reasons.replacementWaits, message, remedy: `wait, or take the annotation ${replaceAnnotation} off` });
    return done; // a new primary causes the next reconcile
  }
  const claim = observed.claims.get(claimName(db, ordinalOf(name)));
  if (claimed === undefined) {
    // The claim's uid is noted first: after a crash, the next operator must not delete the new claim as well.
    await settleOrder(scope, replaceAnnotation, `${name}/${claim?.metadata.uid ?? "none"}`);
    return doneUntil(lookAgainSeconds);
  }
  if (claim?.metadata.uid !== claimed) {
    await settleOrder(scope, replaceAnnotation, null);
    deps.events.record(db, {
      type: "Normal",
      reason: reasons.instanceReplaced,
      action: "Replace",
      note: `${name} begins with an empty volume`,
    });
    return done;
  }
  if ((await leaderNow(db, client)) === name) return doneUntil(lookAgainSeconds); // it was elected since the cache was updated
  await client.delete(persistentVolumeClaims, keyOf(claim), { uid: claimed }).catch(ignoreNotFound);
  const pod = observed.instances.find(({ podName }) => podName === name);
  // Without grace: the kubelet may be gone, too, and would never confirm the end. The claim stays for as long as the Pod is there.
  if (pod)
    await client.delete(pods, { namespace: scope.key.namespace, name }, { uid: pod.uid, gracePeriodSeconds: 0 }).catch(ignoreNotFound);
  return doneUntil(lookAgainSeconds);
};

/** Refuses an instance that does not exist, and the primary, whose data may be nowhere else. */
function whyNot({ db, observed: { primary } }: Scope, name: string): string | undefined {
  const ordinal = ordinalOf(name);
  // The claim is found by the ordinal. So the whole name must match: `other-2` must not delete the claim of this database's instance 2.
  if (!(ordinal < db.spec.replicas) || name !== podName(db, ordinal)) return `there is no instance ${name}`;
  if (primary?.ready && primary.podName === name) return `${name} is the primary: switch over first`;
  return undefined;
}

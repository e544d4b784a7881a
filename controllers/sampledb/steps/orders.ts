// What a person has ordered by annotation.
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { sampledbs } from "../../resources.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { switchover } from "../switchover.ts";

/** The name of the instance that is to be primary, or `any`. It is taken off when that is so. */
export const switchoverAnnotation = "sampledb.io/switchover";

const lookAgainSeconds = 10;

export const orders: SampleDBStep = async (scope) => {
  const { db, observed, deps } = scope;
  const wanted = db.metadata.annotations?.[switchoverAnnotation];
  if (wanted === undefined) return done;
  const { primary, instances } = observed;
  if (!primary) return doneUntil(lookAgainSeconds);
  if (wanted === primary.podName) {
    await settle(scope, null);
    return done;
  }
  const heirs = instances.filter(({ ready, mayTakeOver, podName }) => ready && mayTakeOver && podName !== primary.podName);
  const heir = wanted === "any" ? heirs[0] : heirs.find(({ podName }) => podName === wanted);
  if (!heir) {
    const note = wanted === "any" ? "no replica is ready to take over" : `${wanted} is not a replica that is ready to take over`;
    deps.events.record(db, {
      type: "Warning",
      reason: "SwitchoverImpossible",
      action: "Switchover",
      note: `${note}; the order is dropped`,
    });
    await settle(scope, null);
    return done;
  }
  // Who it is to be is written down first: whoever goes on after a crash must not choose another.
  if (wanted === "any") await settle(scope, heir.podName);
  await switchover(scope, primary, heir);
  return doneUntil(lookAgainSeconds);
};

async function settle({ db, key, client }: Scope, value: string | null): Promise<void> {
  const { uid } = db.metadata;
  await client.mergePatch(sampledbs, key, { metadata: { uid, annotations: { [switchoverAnnotation]: value } } });
}

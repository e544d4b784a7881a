// An order to hand over whose primary is lost before it could: Patroni waits for whoever was named, and where that one may not lead
// nobody is elected. Taken back, they elect. One that was carried out leaves a note, which goes when it is of no use any more.
import { namedAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { configMaps } from "../../kinds/kubernetes.ts";
import type { SampleDBStep } from "../scope.ts";

/**
 * Handing over takes some seconds; whoever stops for longer, as with much to write at its end, hands over to whoever is elected. Counted
 * from the order, because a lost node looks well for most of a minute.
 */
const patienceSeconds = 30;

export const hangingOrder: SampleDBStep = async ({ db, observed: { failover, primary }, client, deps }) => {
  const { leader, member, scheduled_at: later, [namedAnnotation]: named } = failover?.metadata.annotations ?? {};
  const { uid = "" } = failover?.metadata ?? {};
  const isOpen = leader !== undefined || member !== undefined;
  if (!failover || later !== undefined || (!isOpen && named === undefined)) {
    deps.durations.end(uid);
    return done;
  }
  const isCarriedOut = !isOpen && primary?.takesWrites === true;
  const left = patienceSeconds - deps.durations.seconds(uid);
  if (!isCarriedOut && left > 0) return doneUntil(left);
  const { resourceVersion } = failover.metadata;
  const annotations = { leader: null, member: null, [namedAnnotation]: null };
  await client.mergePatch(configMaps, keyOf(failover), { metadata: { resourceVersion, annotations } });
  deps.durations.end(uid);
  if (!isOpen) return done;
  const note = `from ${leader ?? "whoever leads"} to ${member ?? "whoever is elected"}: not carried out for ${patienceSeconds} s`;
  deps.events.record(db, { type: "Warning", reason: reasons.switchoverTakenBack, action: "Switchover", note });
  return done;
};

// A replica that does not follow is made anew from the primary. Patroni does so where histories have parted; where the primary has
// thrown away what the replica needs, it waits for ever.
import { replaceAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import type { Instance } from "../../database/instance.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

/** A replica whose primary has just changed needs a moment; one that answers and waits for so long waits in vain. */
const patienceSeconds = 120;
/** One that replays what was written while it was copied has work for hours: it is told, and nobody throws a good copy away. */
const startingPatienceSeconds = 600;

const lookAgainSeconds = 30;

export const stragglers: SampleDBStep = async (scope) => {
  const { observed, deps } = scope;
  const { primary, instances } = observed;
  // Without a primary there is nothing to follow and nothing to copy: the patience begins when it is back.
  const replicas = primary?.ready ? instances.filter(({ role, going }) => role === "Replica" && !going) : [];
  const starting = replicas.filter(({ starting, ready }) => starting && !ready);
  const behind = replicas.filter(({ ready, streaming }) => ready && !streaming);
  for (const instance of instances) {
    if (!behind.includes(instance)) deps.durations.end(instance.uid);
    if (!starting.includes(instance)) deps.durations.end(startOf(instance));
  }
  for (const instance of starting) if (deps.durations.seconds(startOf(instance)) >= startingPatienceSeconds) tell(scope, instance);
  // One at a time: while it is copied, the others are copies too.
  const lost = behind.find(({ uid }) => deps.durations.seconds(uid) >= patienceSeconds);
  if (lost && primary) await makeAnew(scope, lost, primary);
  return behind.length + starting.length > 0 ? doneUntil(lookAgainSeconds) : done;
};

const startOf = ({ uid }: Instance) => `${uid}/starting`;

function tell({ findings }: Scope, { podName }: Instance): void {
  const order = `annotate the SampleDB with ${replaceAnnotation}=${podName}`;
  findings.blockers.push({
    reason: reasons.replicaStarting,
    message: `PostgreSQL in ${podName} has been starting for more than ${startingPatienceSeconds / 60} minutes`,
    remedy: `none is needed while it replays its log, which kubectl logs ${podName} shows; if it gets nowhere, ${order}`,
  });
}

async function makeAnew({ db, deps, signal, findings }: Scope, instance: Instance, primary: Instance): Promise<void> {
  const { podName, uid } = instance;
  const message = `${podName} has not followed ${primary.podName} for ${patienceSeconds} s`;
  findings.blockers.push({ reason: reasons.replicaBehind, message, remedy: "none is needed: it is copied anew from the primary" });
  await (await deps.patroni(db, instance)).reinitialize({ signal });
  deps.durations.end(uid); // the patience begins anew with the copy
  deps.events.record(db, {
    type: "Warning",
    reason: reasons.replicaMadeAnew,
    action: "Reinitialize",
    note: `${message}: its data is copied anew`,
  });
}

// Has a replica copied anew that does not follow its primary.
//
// Patroni does so by itself where the timelines have parted. Where the primary has removed log that the replica needs, Patroni waits for
// ever.
import { replaceAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import type { Instance } from "../../database/instance.ts";
import { toldSeconds } from "../../telling/blockers.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

/** After a change of primary a replica needs a moment to follow, which is no blocker yet. */
const tellAfterSeconds = 20;
/** A replica that answers SQL and has not followed for so long never will. */
const patienceSeconds = 120;
/** A replica may replay for hours the log from while it was copied. Its copy is good, so it gets a blocker only, and is not copied anew. */
const startingPatienceSeconds = 600;

const lookAgainSeconds = 30;

export const stragglers: SampleDBStep = async (scope) => {
  const { observed, deps } = scope;
  const { primary, instances } = observed;
  // Without a primary there is nothing to follow and nothing to copy. The patience begins when it is back.
  const replicas = primary?.ready ? instances.filter(({ role, going }) => role === "Replica" && !going) : [];
  const starting = replicas.filter(({ starting, ready }) => starting && !ready);
  const behind = replicas.filter(({ ready, streaming }) => ready && !streaming);
  for (const instance of instances) {
    if (!behind.includes(instance)) deps.patience.end(instance.uid);
    if (!starting.includes(instance)) deps.patience.end(startOf(instance));
  }
  for (const instance of starting) if (deps.patience.seconds(startOf(instance)) >= startingPatienceSeconds) tellStarting(scope, instance);
  const lost = behind.filter((instance) => primary && isLost(scope, instance, primary));
  // One at a time: the data of the others may be needed meanwhile.
  if (lost[0] && primary) await copyAnew(scope, lost[0], primary);
  return behind.length + starting.length > 0 ? doneUntil(lookAgainSeconds) : done;
};

const startOf = ({ uid }: Instance) => `${uid}/starting`;

/**
 * A new copy discards the replica's data. So both must have lasted: this process has seen it without a gap, and the stored status has had
 * the blocker. The status alone says nothing about gaps in looking, and nothing destructive may rest on the memory of one process.
 */
function isLost({ db, deps, findings }: Scope, { uid, podName }: Instance, primary: Instance): boolean {
  const seen = deps.patience.seconds(uid);
  if (seen < tellAfterSeconds) return false;
  const blocker = {
    reason: reasons.replicaBehind,
    message: `${podName} does not follow ${primary.podName}`,
    remedy: `none is needed: it is copied anew from the primary when that has lasted for ${patienceSeconds} s`,
  };
  findings.blockers.push(blocker);
  const told = toldSeconds(db.status?.blockers, blocker, deps.now());
  return seen >= patienceSeconds && told >= patienceSeconds - tellAfterSeconds - lookAgainSeconds;
}

function tellStarting({ findings }: Scope, { podName }: Instance): void {
  const order = `annotate the SampleDB with ${replaceAnnotation}=${podName}`;
  findings.blockers.push({
    reason: reasons.replicaStarting,
    message: `PostgreSQL in ${podName} has been starting for more than ${startingPatienceSeconds / 60} minutes`,
    remedy: `none is needed while it replays its log, which kubectl logs ${podName} shows; if it gets nowhere, ${order}`,
  });
}

async function copyAnew({ db, deps, signal }: Scope, instance: Instance, primary: Instance): Promise<void> {
  const { podName, uid } = instance;
  await (await deps.patroni(db, instance)).reinitialize({ signal });
  deps.patience.end(uid); // the patience begins anew with the copy
  const note = `${podName} has not followed ${primary.podName} for ${patienceSeconds} s: its data is copied anew`;
  deps.events.record(db, { type: "Warning", reason: reasons.replicaMadeAnew, action: "Reinitialize", note });
}

// A replica that does not follow is made anew from the primary. Patroni does so where histories have parted; where the primary has
// thrown away what the replica needs, it waits for ever.
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import type { Instance } from "../instance.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

/** A replica whose primary has just changed needs a moment; one that answers and waits for so long waits in vain. */
const patienceSeconds = 120;
/** One that recovers has work to do. One whose rewinding was cut short waits for what never comes, and looks the same (seen). */
const startingPatienceSeconds = 600;

export const stragglers: SampleDBStep = async (scope) => {
  const { observed, deps } = scope;
  const { primary, instances } = observed;
  // Without a primary there is nothing to follow and nothing to copy: the patience begins when it is back.
  const isBehind = ({ ready, starting, going, role, streaming }: Instance) =>
    primary?.ready === true && role === "Replica" && !streaming && !going && (ready || starting);
  for (const { uid } of instances.filter((instance) => !isBehind(instance))) deps.durations.end(uid);
  const behind = instances.filter(isBehind);
  if (!primary || behind.length === 0) return done;
  const lost = behind.filter(({ uid, ready }) => deps.durations.seconds(uid) >= (ready ? patienceSeconds : startingPatienceSeconds));
  // One at a time: while it is copied, the others are copies too.
  const [first] = lost;
  if (first) await makeAnew(scope, first, primary);
  return doneUntil(patienceSeconds / 4);
};

async function makeAnew({ db, deps, signal, findings }: Scope, instance: Instance, primary: Instance): Promise<void> {
  const { podName, uid } = instance;
  const seconds = instance.ready ? patienceSeconds : startingPatienceSeconds;
  const message = `${podName} has not followed ${primary.podName} for ${seconds} s`;
  findings.blockers.push({ reason: "ReplicaBehind", message, remedy: "none is needed: it is copied anew from the primary" });
  await (await deps.patroni(db, instance)).reinitialize({ signal });
  deps.durations.end(uid); // the patience begins anew with the copy
  deps.events.record(db, {
    type: "Warning",
    reason: "ReplicaMadeAnew",
    action: "Reinitialize",
    note: `${message}: its data is copied anew`,
  });
}

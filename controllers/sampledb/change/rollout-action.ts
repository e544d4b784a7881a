// The next action of a rollout, which brings a change to the instances one at a time while the database serves. A pure function.
import { type Instance, isOfOlderMake, nodeLost } from "../../database/instance.ts";
import { unprepared } from "../../database/succession.ts";

export type RolloutAction =
  | { readonly kind: "none" }
  /** Kubernetes, Patroni or PostgreSQL must do something first. */
  | { readonly kind: "wait"; readonly for: string }
  /** Delete its Pod; the StatefulSet makes it anew. */
  | { readonly kind: "replace"; readonly instance: Instance }
  /** Restart PostgreSQL in its Pod. */
  | { readonly kind: "restart"; readonly instance: Instance }
  | { readonly kind: "switchover"; readonly from: Instance; readonly to: Instance };

export interface RolloutInputs {
  readonly instances: readonly Instance[];
  readonly wanted: number;
  /** `askedDigest` of the present spec. */
  readonly asked: string;
  /** The revision that a Pod made now would have. */
  readonly newest: string | undefined;
  /** Every instance has read its settings, and has reported which of them wait for a restart. Instances do so seconds apart. */
  readonly settled: boolean;
}

/** PostgreSQL refuses to start a replica with a smaller value than its primary has. So the primary restarts first when one shrinks. */
const boundByPrimary = new Set([
  "max_connections",
  "max_worker_processes",
  "max_wal_senders",
  "max_prepared_transactions",
  "max_locks_per_transaction",
]);

export function nextRolloutAction({ instances, wanted, asked, newest, settled }: RolloutInputs): RolloutAction {
  const outdated = (instance: Instance) => instance.asked !== asked || (beginsToArchive(instance) && isOfOlderMake(instance, newest));
  // An older version of the operator made this Pod, which may be why it does not start: its image can be gone from the registry.
  const startsNoMore = (instance: Instance) => instance.problem !== undefined && isOfOlderMake(instance, newest);
  const primary = instances.find(({ role }) => role === "Primary");

  // An instance that does not serve is replaced at once, whatever else is broken: so a mistake that the user takes back is gone. An
  // instance on a lost node may still serve: after an outage of the API server, every node looks lost for a moment.
  const isBroken = ({ ready, going, problem }: Instance) => !ready && !going && problem?.reason !== nodeLost;
  const broken = instances.find((it) => (outdated(it) || startsNoMore(it)) && isBroken(it) && it !== primary);
  if (broken) return { kind: "replace", instance: broken };
  if (primary && outdated(primary) && isBroken(primary) && instances.length === 1) return { kind: "replace", instance: primary };

  const needsRestart = (instance: Instance) => instance.pendingRestart !== undefined || (settled && isBelow(instance, primary));
  const changing = instances.filter((instance) => outdated(instance) || needsRestart(instance));
  if (changing.length === 0) return { kind: "none" };
  const missing = instances.find(({ ready }) => !ready);
  if (missing) return { kind: "wait", for: `${missing.podName} to be ready` };
  if (instances.length < wanted) return { kind: "wait", for: "all instances to be there" };
  if (!primary) return { kind: "wait", for: "a primary" };
  const replicas = instances.filter((instance) => instance !== primary);
  const behind = replicas.find(({ streaming }) => !streaming);
  if (behind) return { kind: "wait", for: `${behind.podName} to follow the primary` };
  // Otherwise commits might wait for just the replica that is taken away, until Patroni's next loop: five seconds and more.
  const [apart] = unprepared({ instances, primary });
  if (apart) return { kind: "wait", for: `${apart.podName} to count for commits` };

  // From the highest ordinal down: people look for the primary at the first one.
  const inTurn = replicas.toReversed();
  const stale = inTurn.find(outdated);
  if (stale) return { kind: "replace", instance: stale };
  if (outdated(primary)) {
    const [to] = inTurn;
    return to ? { kind: "switchover", from: primary, to } : { kind: "replace", instance: primary };
  }
  if (primary.pendingRestart?.some(shrinks)) return { kind: "restart", instance: primary };
  const pending = [...inTurn, primary].find(needsRestart);
  return pending ? { kind: "restart", instance: pending } : { kind: "none" };
}

/** The image of a Pod of an older make may lack the programs that archive. A restart in that Pod would bring no archive. */
function beginsToArchive({ pendingRestart }: Instance): boolean {
  return pendingRestart?.some(({ name, to }) => name === "archive_mode" && to === "on") ?? false;
}

/** Its primary got a held setting by a restart, and this replica did not. PostgreSQL stops replaying then, and can't be promoted. */
function isBelow({ heldSettings }: Instance, primary: Instance | undefined): boolean {
  return heldSettings.some((name) => boundByPrimary.has(name) && primary?.heldSettings.includes(name) === false);
}

function shrinks({ name, from, to }: { name: string; from: string; to: string }): boolean {
  return boundByPrimary.has(name) && Number(to) < Number(from);
}

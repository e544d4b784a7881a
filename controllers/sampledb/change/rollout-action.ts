// What to do next so that every instance runs as asked, one at a time, while the database serves. A pure function of what is observed.
import { type Instance, isOfOlderMake, nodeLost } from "../../database/instance.ts";
import { unprepared } from "../../database/succession.ts";

export type RolloutAction =
  | { readonly kind: "none" }
  /** Something must happen by itself first; the next observation decides. */
  | { readonly kind: "wait"; readonly for: string }
  /** Its Pod is made anew. */
  | { readonly kind: "replace"; readonly instance: Instance }
  /** PostgreSQL is restarted in its Pod. */
  | { readonly kind: "restart"; readonly instance: Instance }
  | { readonly kind: "switchover"; readonly from: Instance; readonly to: Instance };

export interface RolloutInputs {
  readonly instances: readonly Instance[];
  readonly wanted: number;
  /** The digest of what is asked of the Pods now. */
  readonly asked: string;
  /** The revision that a Pod made now would have. */
  readonly newest: string | undefined;
  /** Every instance has read its settings, and told what waits for a restart. They do so seconds apart. */
  readonly settled: boolean;
}

/** A replica can't start with less than its primary has of these: PostgreSQL would refuse to follow. So the primary comes first when they shrink. */
const boundByPrimary = new Set([
  "max_connections",
  "max_worker_processes",
  "max_wal_senders",
  "max_prepared_transactions",
  "max_locks_per_transaction",
]);

export function nextRolloutAction({ instances, wanted, asked, newest, settled }: RolloutInputs): RolloutAction {
  const outdated = (instance: Instance) => instance.asked !== asked;
  // As an older version of the operator made it, which may be why: its image can be gone from the registry.
  const startsNoMore = (instance: Instance) => instance.problem !== undefined && isOfOlderMake(instance, newest);
  const primary = instances.find(({ role }) => role === "Primary");

  // What does not serve has nothing to lose: a mistake that is taken back is gone at once, whatever else is broken. One on a node that
  // does not answer may well serve: after an outage of the API server all of them look like that for a moment.
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
  // Otherwise commits would wait for whoever is taken away, and nobody else, until Patroni has looked again: five seconds and more.
  const [apart] = unprepared({ instances, primary });
  if (apart) return { kind: "wait", for: `${apart.podName} to count for commits` };

  // From the end: the first ordinal is where people look for the primary.
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

/** It lacks what its primary has had since a restart for another reason: PostgreSQL stops replaying there, and can't be promoted. */
function isBelow({ heldSettings }: Instance, primary: Instance | undefined): boolean {
  return heldSettings.some((name) => boundByPrimary.has(name) && primary?.heldSettings.includes(name) === false);
}

function shrinks({ name, from, to }: { name: string; from: string; to: string }): boolean {
  return boundByPrimary.has(name) && Number(to) < Number(from);
}

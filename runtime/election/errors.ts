// The errors of an election.
import { Forbidden } from "../kube/errors.ts";
import { type Key, keyText } from "../kube/object.ts";

/** This process was the leader and no longer is: it must exit. */
export class LeadershipLost extends Error {
  override readonly name = "LeadershipLost";
}

export function takenOver(key: Key, holder: string): LeadershipLost {
  return new LeadershipLost(`the lease ${keyText(key)} is held by ${holder} now`);
}

export function notRenewed(key: Key, renewDeadline: number, lastFailure: Error | undefined): LeadershipLost {
  const because = lastFailure?.message ?? "no answer came, or this process stood still";
  return new LeadershipLost(`the lease ${keyText(key)} was not renewed within ${renewDeadline / 1000} s: ${because}`, {
    cause: lastFailure,
  });
}

/** Adds what a person can do about a failed try, where there is something. */
export function explained(failure: unknown, { namespace, name }: Key): Error {
  if (failure instanceof Forbidden) {
    const missing = `get, create and update on leases.coordination.k8s.io in the namespace ${namespace}`;
    return new Error(`electing a leader by the lease ${name} needs the permission to ${missing}: ${failure.message}`, { cause: failure });
  }
  return failure instanceof Error ? failure : new Error(String(failure));
}

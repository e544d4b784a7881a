// Whether the lease is free, judged by what this process has seen and when. Wall clocks of machines differ, so the times that
// another process wrote prove nothing. A change of its record proves that the holder was alive.
import type { LeaseSpec } from "./lease.ts";

/** A holder's record in the lease, as it was last seen to change. */
export interface Claim {
  readonly holder: string;
  readonly spec: LeaseSpec;
  /** When the answer arrived, on this process's monotonic clock. The record was written before that. */
  readonly seenAt: number;
  readonly duration: number;
}

/**
 * The claim after a look at the lease; undefined when it was released. A lease that a person deleted or emptied says nothing
 * about its holder, which may be writing and recreates the lease at its next renewal. Until then the claim stays as it was.
 */
export function observe(before: Claim | undefined, found: LeaseSpec | undefined, now: number, usualDuration: number): Claim | undefined {
  const holder = found?.holderIdentity;
  if (found === undefined || holder === undefined) return before;
  if (holder === "") return undefined;
  if (before !== undefined && isSame(before.spec, found)) return before;
  const seconds = found.leaseDurationSeconds ?? 0;
  return { holder, spec: found, seenAt: now, duration: seconds > 0 ? seconds * 1000 : usualDuration };
}

/** The time from which on `identity` may take the lease. */
export function freeFrom(claim: Claim | undefined, identity: string): number {
  // Our own name is in it when we took it and the answer was lost.
  if (claim === undefined || claim.holder === identity) return Number.NEGATIVE_INFINITY;
  return claim.seenAt + claim.duration;
}

const record = ["holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime", "leaseTransitions"] as const;

function isSame(one: LeaseSpec, other: LeaseSpec): boolean {
  return record.every((field) => one[field] === other[field]);
}

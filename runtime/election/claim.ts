// Whether the lease is free, judged by what this process has seen and when. Wall clocks of different machines differ, so a
// time that another one has written says nothing; that its record has changed says that it was alive.
import type { LeaseSpec } from "./lease.ts";

/** Somebody's hold on the lease, as it was last seen to change. */
export interface Claim {
  readonly holder: string;
  readonly spec: LeaseSpec;
  /** On our own monotonic clock, when the answer was here: the record can't be younger than that. */
  readonly seenAt: number;
  readonly duration: number;
}

/**
 * The claim after a look at the lease; undefined when nobody has one. A lease that somebody deleted or emptied by hand tells
 * nothing of its holder, who may be writing and makes it anew at the next renewal: until then the claim stays what it was.
 */
export function observe(before: Claim | undefined, found: LeaseSpec | undefined, now: number, usualDuration: number): Claim | undefined {
  const holder = found?.holderIdentity;
  if (found === undefined || holder === undefined) return before;
  if (holder === "") return undefined;
  if (before !== undefined && isSame(before.spec, found)) return before;
  const seconds = found.leaseDurationSeconds ?? 0;
  return { holder, spec: found, seenAt: now, duration: seconds > 0 ? seconds * 1000 : usualDuration };
}

/** From when on `identity` may take the lease. */
export function freeFrom(claim: Claim | undefined, identity: string): number {
  // Our own name is there when we took it and the answer was lost.
  if (claim === undefined || claim.holder === identity) return Number.NEGATIVE_INFINITY;
  return claim.seenAt + claim.duration;
}

const record = ["holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime", "leaseTransitions"] as const;

function isSame(one: LeaseSpec, other: LeaseSpec): boolean {
  return record.every((field) => one[field] === other[field]);
}

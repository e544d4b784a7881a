// The Lease as the API server stores it, and the specs that candidates write. Its times are for people: no process decides by them.
import type { Key, KubeObject } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";
import { microTime } from "../kube/time.ts";

export interface LeaseSpec {
  /** Empty: the last holder has released the lease and writes no more. */
  readonly holderIdentity?: string;
  /** How long other candidates must wait after they saw the lease change. */
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export const leases = namespaced<Lease>("coordination.k8s.io/v1", "Lease", "leases");

/** The holder of the lease from `time` on, and the duration of each renewal. */
export interface Holding {
  readonly identity: string;
  readonly duration: number;
  readonly time: Date;
}

/** The lease with a new holder. Unknown fields stay. If the holder is already in it, this is a renewal. */
export function takenSpec(found: LeaseSpec | undefined, holding: Holding): LeaseSpec {
  if (found?.holderIdentity === holding.identity) return renewedSpec(found, holding);
  const leaseTransitions = found === undefined ? 0 : (found.leaseTransitions ?? 0) + 1;
  return { ...renewedSpec(found, holding), acquireTime: microTime(holding.time), leaseTransitions };
}

export function renewedSpec(held: LeaseSpec | undefined, { identity, duration, time }: Holding): LeaseSpec {
  return { ...held, holderIdentity: identity, leaseDurationSeconds: Math.ceil(duration / 1000), renewTime: microTime(time) };
}

/** Free for the next candidate at once. The API server refuses a duration of 0; client-go writes 1. */
export function releasedSpec(held: LeaseSpec, time: Date): LeaseSpec {
  return { ...held, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: microTime(time), renewTime: microTime(time) };
}

/** A lease that does not exist. If it was deleted, it gets the labels and annotations that it had before. */
export function newLease({ namespace, name }: Key, spec: LeaseSpec, before?: Lease): Lease {
  const { labels, annotations } = before?.metadata ?? {};
  const notes = { ...(labels && { labels }), ...(annotations && { annotations }) };
  return { apiVersion: leases.apiVersion, kind: leases.kind, metadata: { namespace, name, ...notes }, spec };
}

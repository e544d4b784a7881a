// The Lease as the API server stores it, and what candidates write into it. The times in it are for people: nobody decides by them.
import type { Key, KubeObject } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";
import { microTime } from "../kube/time.ts";

export interface LeaseSpec {
  /** Empty: its last holder has given it back and does not write any more. */
  readonly holderIdentity?: string;
  /** For how long others have to leave it alone after they saw it change. */
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export const leases = namespaced<Lease>("coordination.k8s.io/v1", "Lease", "leases");

/** Who holds the lease from `time` on, and for how long at a time. */
export interface Holding {
  readonly identity: string;
  readonly duration: number;
  readonly time: Date;
}

/** The lease in new hands. Fields that we don't know stay. A holder that finds its own name there goes on with what it has. */
export function takenSpec(found: LeaseSpec | undefined, holding: Holding): LeaseSpec {
  if (found?.holderIdentity === holding.identity) return renewedSpec(found, holding);
  const leaseTransitions = found === undefined ? 0 : (found.leaseTransitions ?? 0) + 1;
  return { ...renewedSpec(found, holding), acquireTime: microTime(holding.time), leaseTransitions };
}

export function renewedSpec(held: LeaseSpec | undefined, { identity, duration, time }: Holding): LeaseSpec {
  return { ...held, holderIdentity: identity, leaseDurationSeconds: Math.ceil(duration / 1000), renewTime: microTime(time) };
}

/** Free for the next one at once. The API server refuses a duration of 0; 1 is what client-go writes. */
export function releasedSpec(held: LeaseSpec, time: Date): LeaseSpec {
  return { ...held, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: microTime(time), renewTime: microTime(time) };
}

/** A lease that is not there yet, or not any more: then with what people and programs had noted on the one before. */
export function newLease({ namespace, name }: Key, spec: LeaseSpec, before?: Lease): Lease {
  const { labels, annotations } = before?.metadata ?? {};
  const notes = { ...(labels && { labels }), ...(annotations && { annotations }) };
  return { apiVersion: leases.apiVersion, kind: leases.kind, metadata: { namespace, name, ...notes }, spec };
}

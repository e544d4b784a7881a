// The calls of one candidate on the lease. Every write has the version that was read: of two concurrent writes, one fails.
import type { CallOptions, KubeClient } from "../kube/client.ts";
import { AlreadyExists, Conflict, NotFound } from "../kube/errors.ts";
import type { Key } from "../kube/object.ts";
import { type Holding, type Lease, type LeaseSpec, leases, newLease, releasedSpec, renewedSpec, takenSpec } from "./lease.ts";

export type LeaseClient = Pick<KubeClient, "find" | "create" | "replace">;

/** The options of the next call: each further call has less time left. */
export type NextCall = () => CallOptions;

/** A lease that this process holds. */
export interface Held {
  readonly lease: Lease;
  /** When the request that took or renewed it was started, on the monotonic clock. Others can't have seen it earlier. */
  readonly renewedFrom: number;
}

export class LeaseStore {
  readonly #client: LeaseClient;
  readonly #key: Key;
  readonly #holding: () => Holding;
  readonly #now: () => number;

  constructor(client: LeaseClient, key: Key, holding: () => Holding, now: () => number) {
    this.#client = client;
    this.#key = key;
    this.#holding = holding;
    this.#now = now;
  }

  async find(call: CallOptions): Promise<Lease | undefined> {
    return await this.#client.find(leases, this.#key, call);
  }

  /** Undefined when another candidate was faster. */
  async take(found: Lease | undefined, call: CallOptions): Promise<Held | undefined> {
    try {
      return await this.#write(found, takenSpec(found?.spec, this.#holding()), call);
    } catch (error) {
      if (error instanceof Conflict || error instanceof AlreadyExists) return undefined;
      throw error;
    }
  }

  /** Resolves to the new holder's name if another process holds the lease. Recreates a lease that a person deleted or emptied. */
  async renew({ lease }: Held, call: NextCall): Promise<Held | { readonly takenBy: string }> {
    try {
      return await this.#write(lease, renewedSpec(lease.spec, this.#holding()), call());
    } catch (error) {
      // Another process took or edited the lease, or an earlier renewal arrived although its answer did not.
      if (!(error instanceof Conflict || error instanceof NotFound)) throw error;
    }
    const found = await this.find(call());
    const holder = found?.spec?.holderIdentity;
    if (holder && holder !== this.#holding().identity) return { takenBy: holder };
    return await this.#write(found, renewedSpec(lease.spec, this.#holding()), call(), lease);
  }

  /** Does nothing when another process holds the lease. */
  async release(call: CallOptions, tries = 3): Promise<void> {
    const found = await this.find(call);
    const { identity, time } = this.#holding();
    if (found?.spec?.holderIdentity !== identity) return;
    try {
      await this.#client.replace(leases, { ...found, spec: releasedSpec(found.spec, time) }, call);
    } catch (error) {
      if (!(error instanceof Conflict) || tries === 1) throw error; // a renewal that was aborted has arrived after all
      await this.release(call, tries - 1);
    }
  }

  async #write(found: Lease | undefined, spec: LeaseSpec, call: CallOptions, before?: Lease): Promise<Held> {
    const renewedFrom = this.#now();
    const lease = found
      ? await this.#client.replace(leases, { ...found, spec }, call)
      : await this.#client.create(leases, newLease(this.#key, spec, before), call);
    return { lease, renewedFrom };
  }
}

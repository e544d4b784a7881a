// A Lease in memory for tests of timing: it behaves as on an API server, and the test decides the fate of each call.
import type { CallOptions } from "../kube/client.ts";
import { Aborted, type ApiError, apiError } from "../kube/errors.ts";
import type { Lease } from "./lease.ts";
import type { LeaseClient } from "./lease-store.ts";

export function refusal(code: number, reason: string): ApiError {
  return apiError({ method: "PUT", path: "/leases" }, code, { reason, message: reason });
}

export class LeaseInMemory {
  lease: Lease | undefined;
  /** Runs on a call's way to the server. */
  before: (verb: string, options: CallOptions) => Promise<void> = async () => {};
  /** Runs on the answer's way back. */
  after: (verb: string) => Promise<void> = async () => {};
  #version = 0;

  readonly client = {
    find: (_: unknown, __: unknown, options: CallOptions) => this.#call("get", options, () => this.lease),
    create: (_: unknown, lease: Lease, options: CallOptions) =>
      this.#call("create", options, () => {
        if (this.lease) throw refusal(409, "AlreadyExists");
        return this.#put(lease);
      }),
    replace: (_: unknown, lease: Lease, options: CallOptions) =>
      this.#call("update", options, () => {
        if (!this.lease) throw refusal(404, "NotFound");
        if (this.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) throw refusal(409, "Conflict");
        return this.#put(lease);
      }),
  } as unknown as LeaseClient;

  /** Changes the lease as a person would; undefined deletes it. */
  tamper(change: (lease: Lease) => Lease | undefined): void {
    const changed = this.lease && change(this.lease);
    this.lease = changed && this.#put(changed);
  }

  #put(lease: Lease): Lease {
    this.#version++;
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.#version) } };
    return this.lease;
  }

  async #call<T>(verb: string, options: CallOptions, answer: () => T): Promise<T> {
    await this.before(verb, options);
    if (options.signal?.aborted) throw new Aborted(verb);
    const value = answer();
    await this.after(verb);
    return value;
  }
}

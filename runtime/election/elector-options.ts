// What an elector is given, and whom it tells.
import type { Clock } from "../clock.ts";
import type { Key } from "../kube/object.ts";
import type { LeaseClient } from "./lease-store.ts";
import type { Timing } from "./timing.ts";

export interface ElectionListener {
  /** Whether this process leads: told when it starts, when it is elected and when that ends. */
  leading?(isLeader: boolean): void;
  /** Another candidate was seen to hold the lease. */
  following?(holder: string): void;
  /** A try failed, and the next one will be made. The same failure again is not told again. */
  failed?(error: Error): void;
}

export interface ElectorOptions {
  /**
   * Without the guard `mayWrite`, and with connections of its own: on those of the controllers a renewal would wait behind
   * their calls, and a slow API server would cost the leadership.
   */
  readonly client: LeaseClient;
  readonly lease: Key;
  readonly identity?: string;
  readonly timing?: Timing;
  readonly listener?: ElectionListener;
  readonly clock?: Clock;
  /** What is written into the lease for people to read. */
  readonly wallClock?: () => Date;
  readonly random?: () => number;
}

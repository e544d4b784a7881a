// The options of an elector, and the listener that it reports to.
import type { Clock } from "../clock.ts";
import type { Key } from "../kube/object.ts";
import type { LeaseClient } from "./lease-store.ts";
import type { Timing } from "./timing.ts";

export interface ElectionListener {
  /** Whether this process leads: called at the start, at the election and at the end of the leadership. */
  leading?(isLeader: boolean): void;
  /** Another candidate holds the lease. */
  following?(holder: string): void;
  /** A try failed, and another will follow. The same failure in a row is reported once. */
  failed?(error: Error): void;
}

export interface ElectorOptions {
  /**
   * Without the guard `mayWrite`, and with connections of its own: on the controllers' connections a renewal would wait behind
   * their calls, and a slow API server would cost the leadership.
   */
  readonly client: LeaseClient;
  readonly lease: Key;
  readonly identity?: string;
  readonly timing?: Timing;
  readonly listener?: ElectionListener;
  readonly clock?: Clock;
  /** The times in the lease, which are for people only. */
  readonly wallClock?: () => Date;
  readonly random?: () => number;
}

// Elects one leader among several processes by a Lease, and answers at any moment whether this process may write.
import { type Cancel, type Clock, systemClock } from "../clock.ts";
import type { Key } from "../kube/object.ts";
import { type Claim, freeFrom, observe } from "./claim.ts";
import type { ElectionListener, ElectorOptions } from "./elector-options.ts";
import { explained, type LeadershipLost, notRenewed, takenOver } from "./errors.ts";
import { newIdentity } from "./identity.ts";
import { type Held, LeaseStore, type NextCall } from "./lease-store.ts";
import { Tenure } from "./tenure.ts";
import { checkTiming, defaultTiming, jittered, type Timing, tryDuration } from "./timing.ts";

/**
 * Guarantee: `mayWrite` is true in one process at a time, as long as monotonic clocks run at the same speed. A leader counts
 * its deadline from the moment when it began to request a renewal. The others count the longer lease from the moment when they
 * saw its outcome.
 *
 * Caveat: a write that was started in time can arrive late. Then only the API server can refuse it, and it does so if the write
 * has a resourceVersion.
 *
 * An elector leads once. After the leadership was lost or released, the process should exit.
 */
export class Elector {
  readonly identity: string;
  readonly #key: Key;
  readonly #store: LeaseStore;
  readonly #timing: Timing;
  readonly #tenure: Tenure;
  readonly #listener: ElectionListener;
  readonly #clock: Clock;
  readonly #random: () => number;

  readonly #elected = Promise.withResolvers<void>();
  readonly #lost = Promise.withResolvers<LeadershipLost>();
  readonly #ended = new AbortController();
  #claim: Claim | undefined;
  #cancelPause: Cancel = () => {};
  #hasTaken = false;
  #lastFailure: Error | undefined;
  #released: Promise<void> | undefined;

  constructor(options: ElectorOptions) {
    const { client, lease, identity = newIdentity(), timing = defaultTiming, listener = {}, clock = systemClock } = options;
    const { wallClock = () => new Date(), random = Math.random } = options;
    checkTiming(timing);
    this.identity = identity;
    this.#key = lease;
    const holding = () => ({ identity, duration: timing.leaseDuration, time: wallClock() });
    this.#store = new LeaseStore(client, lease, holding, () => clock.now());
    this.#timing = timing;
    this.#tenure = new Tenure(clock, timing.renewDeadline, () => this.#lose(this.#notRenewed()));
    this.#listener = listener;
    this.#clock = clock;
    this.#random = random;
  }

  /** Resolves when this process leads; never resolves if it never does. */
  get elected(): Promise<void> {
    return this.#elected.promise;
  }

  /** Resolves when this process loses the leadership without having released it. */
  get lost(): Promise<LeadershipLost> {
    return this.#lost.promise;
  }

  /** For people and metrics; `mayWrite` is for decisions. */
  get isLeader(): boolean {
    return this.#tenure.held !== undefined;
  }

  /**
   * Whether a write may be started at this very moment. Depends on no timer, so it is right even if the process was stopped or
   * its event loop was blocked. Once it turned from true to false, it stays false.
   */
  readonly mayWrite = (): boolean => this.#tenure.mayWrite();

  start(): void {
    this.#listener.leading?.(false);
    void this.#run();
  }

  /**
   * Ends the election; if this process was the leader, the next one can lead at once. The caller must have no writes under way;
   * from now on none is started. Resolves even if the lease could not be released: then it expires.
   */
  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  get #isEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isEnded) {
      const begin = this.#clock.now();
      await this.#try(begin + tryDuration(this.#timing));
      if (!this.#isEnded) await this.#pauseUntil(this.#nextTry(begin));
    }
  }

  /** One period after the beginning of the last try, not after its end: a try that hung took long enough. */
  #nextTry(begin: number): number {
    if (this.isLeader) return begin + this.#timing.retryPeriod;
    const next = begin + jittered(this.#timing.retryPeriod, this.#random());
    const free = freeFrom(this.#claim, this.identity);
    return free > this.#clock.now() ? Math.min(next, free) : next;
  }

  async #try(end: number): Promise<void> {
    const call = () => ({ deadline: Math.max(end - this.#clock.now(), 1), signal: this.#ended.signal });
    try {
      const { held } = this.#tenure;
      if (held === undefined) await this.#campaign(call);
      else await this.#renew(held, call);
      this.#lastFailure = undefined;
    } catch (error) {
      if (!this.#isEnded) this.#fail(explained(error, this.#key));
    }
  }

  async #campaign(call: NextCall): Promise<void> {
    const found = await this.#store.find(call());
    const before = this.#claim?.holder;
    this.#claim = observe(this.#claim, found?.spec, this.#clock.now(), this.#timing.leaseDuration);
    if (this.#claim !== undefined && this.#claim.holder !== before) this.#listener.following?.(this.#claim.holder);
    if (this.#isEnded || this.#clock.now() < freeFrom(this.#claim, this.identity)) return;
    this.#hasTaken = true;
    const held = await this.#store.take(found, call());
    // If the answer came too late, the next look finds our name in the lease, and renews it.
    if (held === undefined || this.#isEnded || !this.#tenure.extend(held)) return;
    this.#listener.leading?.(true);
    this.#elected.resolve();
  }

  async #renew(held: Held, call: NextCall): Promise<void> {
    const renewed = await this.#store.renew(held, call);
    if ("takenBy" in renewed) this.#lose(takenOver(this.#key, renewed.takenBy));
    else if (!this.#isEnded && !this.#tenure.extend(renewed)) this.#lose(this.#notRenewed());
  }

  #notRenewed(): LeadershipLost {
    return notRenewed(this.#key, this.#timing.renewDeadline, this.#lastFailure);
  }

  #lose(reason: LeadershipLost): void {
    if (this.#isEnded) return;
    this.#end();
    this.#lost.resolve(reason);
  }

  /** Stops writes first, then calls and timers under way. */
  #end(): void {
    const wasLeader = this.isLeader;
    this.#tenure.end();
    this.#ended.abort();
    this.#cancelPause();
    if (wasLeader) this.#listener.leading?.(false);
  }

  async #release(): Promise<void> {
    if (this.#isEnded) return; // the leadership was lost: writes may be under way, so the lease has to expire
    this.#end();
    if (!this.#hasTaken) return;
    await this.#store.release({ deadline: tryDuration(this.#timing) }).catch((error: unknown) => this.#fail(explained(error, this.#key)));
  }

  #fail(error: Error): void {
    const isNew = error.message !== this.#lastFailure?.message;
    this.#lastFailure = error;
    if (isNew) this.#listener.failed?.(error);
  }

  async #pauseUntil(time: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.schedule(Math.max(time - this.#clock.now(), 0), resolve);
      this.#cancelPause = () => {
        cancel();
        resolve();
      };
    });
  }
}

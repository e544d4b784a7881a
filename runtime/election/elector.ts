// Elects one leader among several processes by a Lease, and tells at any moment whether this one may write.
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
 * its deadline from the moment when it began to ask for a renewal, the others count the longer lease from when they had seen
 * the outcome. A write that was started in time can still arrive late: then nobody but the API server can refuse it, and it
 * does so if the write carries a resourceVersion.
 *
 * An elector leads once. When that is lost or given back it is over, and so should be the process.
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

  /** Resolves when this process leads; never, when it doesn't come to that. */
  get elected(): Promise<void> {
    return this.#elected.promise;
  }

  /** Resolves when this process leads no more and had not given the lease back. */
  get lost(): Promise<LeadershipLost> {
    return this.#lost.promise;
  }

  /** For people and metrics; `mayWrite` is for decisions. */
  get isLeader(): boolean {
    return this.#tenure.held !== undefined;
  }

  /**
   * Whether a write may be started at this very moment. Needs no timer to have run, so it is right also when the process was
   * stopped or its event loop was blocked. Once false after it was true, it stays false.
   */
  readonly mayWrite = (): boolean => this.#tenure.mayWrite();

  start(): void {
    this.#listener.leading?.(false);
    void this.#run();
  }

  /**
   * Ends it, and lets the next one lead at once if this process was the leader. To be called when no write is under way any
   * more; from now on none is started. Resolves also when the lease could not be given back: then it expires.
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

  /** One period after the beginning of the last try, not after its end: a try that hung has waited long enough. */
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
    // When the answer came too late, the next look finds that the lease is ours, and renews it.
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

  /** Writes stop first; then the calls and timers that are under way. */
  #end(): void {
    const wasLeader = this.isLeader;
    this.#tenure.end();
    this.#ended.abort();
    this.#cancelPause();
    if (wasLeader) this.#listener.leading?.(false);
  }

  async #release(): Promise<void> {
    if (this.#isEnded) return; // lost: writes may be under way, so the lease has to expire
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

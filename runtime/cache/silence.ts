// Ends a stream on which nothing arrives any more: a half-open connection raises no error by itself.
import type { Clock } from "../clock.ts";
import { Unreachable } from "../kube/errors.ts";

/** Nothing arrived for too long. */
export class Silent extends Unreachable {
  override readonly name = "Silent";
}

export interface SilenceLimits {
  /** How long a request may wait for the first answer. */
  readonly opening: number;
  /** How long a stream may be silent. */
  readonly stream: number;
}

export class Silence {
  readonly #limits: SilenceLimits;
  readonly #clock: Clock;
  #heard: number;
  /** Start of the present stream's silence, and how long it may last. */
  #silentSince = 0;
  #limit = 0;

  constructor(limits: SilenceLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#heard = clock.now();
  }

  heard(): void {
    this.#heard = this.#clock.now();
    this.#silentSince = this.#heard;
    this.#limit = this.#limits.stream;
  }

  /** Milliseconds since anything arrived, over all streams and the pauses between them. */
  get milliseconds(): number {
    return this.#clock.now() - this.#heard;
  }

  /** Runs `run` with a signal that is aborted after too long a silence; rejects with Silent then. */
  async guard(signal: AbortSignal, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    // Not AbortSignal.any: the outer signal lives as long as the process and would retain every stream.
    const stream = new AbortController();
    const end = () => stream.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    const begin = this.#clock.now();
    this.#silentSince = begin;
    this.#limit = Math.min(this.#limits.opening, this.#limits.stream);
    let silent = false;
    const check = () => {
      const left = this.#silentSince + this.#limit - this.#clock.now();
      if (left > 0) {
        cancel = this.#clock.schedule(left, check);
        return;
      }
      silent = true;
      stream.abort();
    };
    let cancel = this.#clock.schedule(this.#limit, check);
    try {
      await run(stream.signal);
    } catch (error) {
      if (!silent || signal.aborted) throw error;
      const seconds = Math.round((this.#clock.now() - begin) / 1000);
      throw new Silent(`nothing was heard on the watch for ${this.#limit / 1000} s (it was ${seconds} s old)`, { cause: error });
    } finally {
      cancel();
      signal.removeEventListener("abort", end);
    }
  }
}

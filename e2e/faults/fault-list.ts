// The faults that are set, and which of them a request meets.
import type { Answer } from "./answers.ts";
import { type ApiRequest, type Matcher, matches } from "./request.ts";

type Effect =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "delay"; readonly milliseconds: number }
  | { readonly kind: "hold"; readonly released: Promise<void> }
  | { readonly kind: "loseAnswer" }
  | { readonly kind: "cutMiddle" };

type EffectOf<Kind> = Extract<Effect, { kind: Kind }>;

interface SetFault {
  readonly matcher: Matcher;
  readonly effect: Effect;
  readonly times: number;
  hits: number;
}

export interface Fault {
  /** How many requests met it. */
  readonly hits: number;
  /** Requests that come from now on don't meet it. */
  remove(): void;
}

export interface Hold extends Fault {
  /** Lets those go on that are held, and holds no others. */
  release(): void;
}

export class FaultList {
  #faults: SetFault[] = [];

  add(matcher: Matcher, effect: Effect, times = Number.POSITIVE_INFINITY): Fault {
    const fault: SetFault = { matcher, effect, times, hits: 0 };
    this.#faults.unshift(fault);
    return {
      get hits() {
        return fault.hits;
      },
      remove: () => {
        this.#faults = this.#faults.filter((other) => other !== fault);
      },
    };
  }

  addHold(matcher: Matcher, times?: number): Hold {
    const { promise: released, resolve } = Promise.withResolvers<void>();
    const fault = this.add(matcher, { kind: "hold", released }, times);
    return {
      get hits() {
        return fault.hits;
      },
      remove: () => fault.remove(),
      release: () => {
        fault.remove();
        resolve();
      },
    };
  }

  /** The fault of that kind which the request meets, counted as met. The one that was set last goes first. */
  take<Kind extends Effect["kind"]>(kind: Kind, request: ApiRequest): EffectOf<Kind> | undefined {
    const fault = this.#faults.find(
      ({ matcher, effect, times, hits }) => effect.kind === kind && hits < times && matches(matcher, request),
    );
    if (!fault) return undefined;
    fault.hits++;
    return fault.effect as EffectOf<Kind>;
  }

  clear(): void {
    this.#faults = [];
  }
}

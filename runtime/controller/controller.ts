// Runs a controller: changes put keys into its queue, and its workers reconcile the keys that come out.

import { randomUUID } from "node:crypto";
import type { Cache } from "../cache/cache.ts";
import { type Cancel, type Clock, systemClock } from "../clock.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Key, keyText, parseKey } from "../kube/object.ts";
import type { Log } from "../observability/log.ts";
import { again, type Outcome, type Queue, type Run } from "../queue/queue.ts";
import type { ControllerDefinition, Source } from "./builder.ts";
import type { Ending } from "./ending.ts";
import { GivenUp, judge, ReconcileTimedOut } from "./judgement.ts";
import { Kept } from "./kept.ts";
import { Objects, type ObjectsOptions } from "./objects.ts";
import { asError, failed, type Result, TerminalError, terminal } from "./result.ts";
import { Settled } from "./settled.ts";

export interface ControllerOptions {
  readonly cache: Cache;
  /** The cache must show its writes at once; see `KubeClient.with`. */
  readonly client: KubeClient;
  readonly queue: Queue;
  readonly log: Log;
  /** Called after every reconcile, for metrics. */
  readonly ended?: (ending: Ending, milliseconds: number) => void;
  readonly objects: ObjectsOptions;
  readonly clock?: Clock;
}

export class Controller {
  readonly #definition: ControllerDefinition;
  readonly #options: ControllerOptions;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #settled = new Settled();
  readonly #kept = new Kept();
  /** Keys that must not run before a time, because the API server asked for a pause. */
  readonly #heldUntil = new Map<string, number>();
  /** Aborts the reconciles that are under way. */
  readonly #underWay = new Set<(reason: Error) => void>();
  /** Ends the prompts. */
  readonly #prompts: Cancel[] = [];

  constructor(definition: ControllerDefinition, options: ControllerOptions) {
    this.#definition = definition;
    this.#options = options;
    this.#log = options.log.child({ controller: definition.name });
    this.#clock = options.clock ?? systemClock;
    for (const source of definition.sources) this.#subscribe(source);
  }

  /** Starts to reconcile. Changes are queued even before, so that a standby takes over with all of them in its queue. */
  start(): void {
    this.#options.queue.start((key, run) => this.#work(key, run), this.#definition.maxConcurrentReconciles);
    for (const prompt of this.#definition.prompts) this.#prompts.push(prompt((key) => this.#options.queue.add(keyText(key))));
  }

  /** Starts no more reconciles; resolves when those under way have ended. */
  async drain(): Promise<void> {
    for (const end of this.#prompts.splice(0)) end();
    await this.#options.queue.drain();
  }

  /** Starts no more reconciles and aborts those under way: their signals are aborted, and their writes are refused. */
  async giveUp(cause: Error): Promise<void> {
    const drained = this.drain();
    for (const end of this.#underWay) end(new GivenUp("the controller has ended", { cause }));
    await drained;
  }

  #subscribe({ resource, concerned }: Source): void {
    this.#options.cache.watch(resource).subscribe((change) => {
      const priority = change.type === "added" && change.initial ? "initial" : "changed";
      for (const key of concerned(change)) this.#options.queue.add(keyText(key), { priority });
    });
  }

  async #work(text: string, { attempt }: Run): Promise<Outcome> {
    const begin = this.#clock.now();
    const held = (this.#heldUntil.get(text) ?? begin) - begin;
    if (held > 0) return again(held);
    this.#heldUntil.delete(text);
    const key = parseKey(text);
    const log = this.#log.child({ ...key, reconcileId: randomUUID() });
    const result = await this.#reconcile(key, log);
    const { outcome, ending, hold } = judge(result, attempt, log);
    const now = this.#clock.now();
    if (hold !== undefined) this.#heldUntil.set(text, now + hold);
    const took = now - begin;
    this.#options.ended?.(ending, took);
    log.debug({ took: took / 1000, reason: ending }, "reconciled");
    return outcome;
  }

  /** Never rejects. The timeout aborts the signal, which ends the calls under way and refuses new ones. */
  async #reconcile(key: Key, log: Log): Promise<Result> {
    const { reconcile, timeoutSeconds } = this.#definition;
    const end = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<Result>();
    const giveUp = (reason: Error) => {
      resolve(failed(reason));
      end.abort(reason);
    };
    const cancel = this.#clock.schedule(timeoutSeconds * 1000, () =>
      giveUp(new ReconcileTimedOut(`the reconcile did not end within ${timeoutSeconds} s and was given up`)),
    );
    this.#underWay.add(giveUp);
    try {
      const client = this.#options.client.with({ signal: end.signal });
      const objects = new Objects(this.#options.cache, client, this.#options.objects, this.#settled, this.#kept);
      return await Promise.race([ended, caught(() => reconcile({ key, objects, client, signal: end.signal, log }))]);
    } finally {
      cancel();
      this.#underWay.delete(giveUp);
      end.abort(over); // another run of this key may begin now: a promise that this run left behind must not write
    }
  }
}

/** Made once: creating an error with its stack for each reconcile would cost more than many a reconcile. */
const over = new GivenUp("the reconcile has ended");

async function caught(reconcile: () => Promise<Result>): Promise<Result> {
  try {
    return await reconcile();
  } catch (thrown) {
    const error = asError(thrown);
    return error instanceof TerminalError ? terminal(error) : failed(error);
  }
}

// Assembles a process from caches, controllers and an elector, and owns the order in which they start and end.
import { aborted } from "./aborted.ts";
import { Cache } from "./cache/cache.ts";
import type { ControllerDefinition } from "./controller/builder.ts";
import { Controller } from "./controller/controller.ts";
import { EventRecorder } from "./controller/events.ts";
import type { ObjectsOptions } from "./controller/objects.ts";
import type { Elector } from "./election/elector.ts";
import type { KubeClient } from "./kube/client.ts";
import type { Log } from "./observability/log.ts";
import type { Metrics } from "./observability/metrics.ts";
import { MemoryQueue } from "./queue/memory-queue.ts";

export interface ManagerOptions extends ObjectsOptions {
  /** Without a write guard: the manager adds the elector's. */
  readonly client: KubeClient;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Undefined: no election, this process is the only one. */
  readonly elector: Elector | undefined;
  /** Prefix of the controllers' field managers. */
  readonly fieldManager: string;
  /** `reportingController` of events, `sampledb.io/operator`. */
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly metrics: Metrics;
  readonly log: Log;
  /** How long reconciles under way may take when the process ends. Then they are aborted and the lease is left to expire. */
  readonly graceMilliseconds?: number;
}

export class Manager {
  readonly cache: Cache;
  readonly events: EventRecorder;
  readonly #options: ManagerOptions;
  /** Refuses writes unless this process leads; the cache shows its writes at once. */
  readonly #client: KubeClient;
  readonly #controllers: Controller[] = [];
  readonly #watching = new AbortController();

  constructor(options: ManagerOptions) {
    this.#options = options;
    const { client, namespaces, elector, metrics, log, reportingController, reportingInstance } = options;
    this.cache = new Cache({
      client,
      namespaces,
      listener: {
        listed: (resource) => metrics.cache.listed(resource),
        watchEnded: (resource, error) => {
          metrics.cache.watchEnded(resource, error);
          if (error) log.info({ resource, error }, "a watch ended and is taken up again");
        },
        handlerFailed: (resource, error) => log.error({ resource, error }, "a handler of a change failed"),
      },
    });
    metrics.observeWatches(() => this.cache.watches());
    this.#client = client.with({ mayWrite: elector?.mayWrite, writes: this.cache });
    const onDropped = (error: Error) => log.debug({ error }, "an event was not recorded");
    this.events = new EventRecorder({ client: this.#client, reportingController, reportingInstance, onDropped });
  }

  /** Adds a controller. Each one writes under a field manager of its own. */
  add(definition: ControllerDefinition): void {
    const { metrics, log, fieldManager, hashAnnotation } = this.#options;
    const recorder = metrics.controller(definition.name, definition.maxConcurrentReconciles);
    const queue = new MemoryQueue(definition.name, { listener: recorder.queue });
    recorder.observeQueue(() => queue.observe());
    const client = this.#client.with({ fieldManager: `${fieldManager}-${definition.name}` });
    const { ended } = recorder;
    this.#controllers.push(new Controller(definition, { cache: this.cache, client, queue, log, ended, objects: { hashAnnotation } }));
  }

  /**
   * Runs until the signal is aborted, then ends in order. Rejects when the leadership is lost: the process must exit then. A
   * standby has filled caches and full queues, and lacks only the lease.
   */
  async run(signal: AbortSignal): Promise<void> {
    const lost = new Promise<never>((_, reject) => void this.#options.elector?.lost.then(reject));
    try {
      await Promise.race([this.#lead(signal), lost]);
    } catch (error) {
      // Another process may lead already. Its guard refuses our writes, but side effects outside of the API must end too, and at once.
      await this.#giveUp(error as Error);
      throw error;
    } finally {
      this.#watching.abort();
      await this.cache.stopped();
    }
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { elector, log } = this.#options;
    const told = aborted(signal);
    this.cache.start(this.#watching.signal);
    // Only a candidate with filled caches stands for election: one that can't read must not keep the lease from one that can.
    await Promise.race([this.cache.synced(), told]);
    if (!signal.aborted) {
      log.info({}, "caches are filled");
      elector?.start();
      await Promise.race([elector?.elected, told]);
    }
    if (!signal.aborted) {
      log.info({}, "reconciling");
      for (const controller of this.#controllers) controller.start();
      await told;
    }
    await this.#end();
  }

  /** Ends reconciles first, then flushes their events, then releases the lease: the next leader must not meet our writes. */
  async #end(): Promise<void> {
    const { elector, log, graceMilliseconds = 30_000 } = this.#options;
    const ended = Promise.all(this.#controllers.map((controller) => controller.drain())).then(() => this.events.flushed());
    if (await within(graceMilliseconds, ended)) return await elector?.release();
    log.warn({}, "reconciles did not end in time: the lease is left to expire");
    await this.#giveUp(new Error(`it was told to end ${graceMilliseconds / 1000} s ago`));
  }

  async #giveUp(cause: Error): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.giveUp(cause)));
  }
}

/** True if `work` resolved within the time. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  try {
    return await Promise.race([promise, work.then(() => true)]);
  } finally {
    clearTimeout(timer);
  }
}

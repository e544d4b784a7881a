// Records events, for a person who runs `kubectl describe`. A reconcile never waits for them and never fails because of them.
import { randomBytes } from "node:crypto";
import { BoundedMap } from "../bounded-map.ts";
import type { KubeClient } from "../kube/client.ts";
import { NotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";
import { microTime } from "../kube/time.ts";
import { EventBudget } from "./event-budget.ts";

export interface EventContent {
  readonly type: "Normal" | "Warning";
  /** One word in CamelCase, from a closed list. */
  readonly reason: string;
  /** The action that was taken or tried, in one word. */
  readonly action: string;
  /** A sentence for people: names the objects, and what a person can do. */
  readonly note: string;
}

interface EventObject extends KubeObject {
  readonly [field: string]: unknown;
}

const events = namespaced<EventObject>("events.k8s.io/v1", "Event", "events");

/** The same event within this time raises the count of the first one. */
const seriesMilliseconds = 10 * 60_000;
/** How often the count is written at most. */
const countMilliseconds = 60_000;
const mostSeries = 4096;
/** Requests at once. More would take connections from the reconciles while the API server is slow. */
const mostSending = 64;
/** In bytes, as the API server counts. */
const longestNote = 1024;

interface Series {
  readonly name: string;
  readonly namespace: string;
  readonly begin: number;
  count: number;
  writtenAt: number;
  /** Its last request. A count must not be sent before the request that creates the event has ended. */
  sent: Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, "create" | "mergePatch">;
  /** `sampledb.io/operator`. */
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly onDropped?: (error: Error) => void;
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
  /** The time that is written into events. */
  readonly wallClock?: () => Date;
}

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #now: () => number;
  readonly #wallClock: () => Date;
  readonly #series = new BoundedMap<Series>(mostSeries);
  readonly #budget: EventBudget;
  readonly #sending = new Set<Promise<void>>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#wallClock = options.wallClock ?? (() => new Date());
    this.#budget = new EventBudget(this.#now);
  }

  record(regarding: KubeObject, content: EventContent): void {
    const identity = [regarding.metadata.uid, content.type, content.reason, content.action, content.note].join("\0");
    const series = this.#series.get(identity);
    if (series && this.#now() - series.begin < seriesMilliseconds) this.#again(identity, series);
    else if (this.#budget.take(regarding.metadata.uid ?? "")) this.#first(regarding, content, identity);
  }

  /** Resolves when every recorded event was sent or has failed. */
  async flushed(): Promise<void> {
    await Promise.all(this.#sending);
  }

  #first(regarding: KubeObject, content: EventContent, identity: string): void {
    const name = `${regarding.metadata.name.slice(0, 200).replace(/[-.]+$/, "")}.${randomBytes(8).toString("hex")}`;
    const namespace = regarding.metadata.namespace ?? "default";
    const series = { name, namespace, begin: this.#now(), count: 1, writtenAt: this.#now(), sent: Promise.resolve() };
    const event = this.#event(regarding, content, series);
    this.#series.set(identity, series);
    const create = () => this.#options.client.create(events, event);
    this.#send(series, create, () => this.#forget(identity, series)); // without the event there is nothing to count on
  }

  #again(identity: string, series: Series): void {
    series.count += 1;
    if (this.#now() - series.writtenAt < countMilliseconds && series.count > 2) return;
    series.writtenAt = this.#now();
    const patch = { series: { count: series.count, lastObservedTime: microTime(this.#wallClock()) } };
    const count = () => this.#options.client.mergePatch(events, series, patch);
    this.#send(series, count, (error) => {
      if (error instanceof NotFound) this.#forget(identity, series);
    });
  }

  #event({ apiVersion, kind, metadata }: KubeObject, content: EventContent, { name, namespace }: Series): EventObject {
    const { name: regardingName, uid, resourceVersion } = metadata;
    const { reportingController, reportingInstance } = this.#options;
    return {
      apiVersion: events.apiVersion,
      kind: events.kind,
      metadata: { name, namespace },
      ...content,
      note: shortened(content.note),
      eventTime: microTime(this.#wallClock()),
      reportingController,
      reportingInstance: reportingInstance.slice(0, 128),
      regarding: { apiVersion, kind, name: regardingName, namespace: metadata.namespace, uid, resourceVersion },
    };
  }

  #send(series: Series, call: () => Promise<unknown>, forget: (error: Error) => void): void {
    const failed = (error: Error) => {
      forget(error);
      if (!(error instanceof NotFound)) this.#options.onDropped?.(error); // events expire after an hour, and namespaces get deleted
    };
    if (this.#sending.size >= mostSending) {
      failed(new Error(`${mostSending} events are on their way already`));
      return;
    }
    const sending = series.sent
      .then(call)
      .then(() => {}, failed)
      .finally(() => this.#sending.delete(sending));
    series.sent = sending;
    this.#sending.add(sending);
  }

  #forget(identity: string, series: Series): void {
    if (this.#series.get(identity) === series) this.#series.delete(identity);
  }
}

function shortened(note: string): string {
  if (Buffer.byteLength(note) <= longestNote) return note;
  const ellipsis = "…";
  const { read } = new TextEncoder().encodeInto(note, new Uint8Array(longestNote - Buffer.byteLength(ellipsis)));
  return note.slice(0, read) + ellipsis;
}

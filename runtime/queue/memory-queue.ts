// The engine "memory": a work queue within one process. Nothing outlives the process; the next initial list restores it.
import { type Clock, systemClock } from "../clock.ts";
import { type Backoff, defaultBackoff, retryTime } from "./backoff.ts";
import { Delays } from "./delays.ts";
import { LinkedList } from "./linked-list.ts";
import {
  type AddOptions,
  moreUrgent,
  type Outcome,
  type Priority,
  type Queue,
  type QueueListener,
  type QueueState,
  type Run,
  retry,
  type Worker,
} from "./queue.ts";
import { Turns } from "./turns.ts";

const atOnce = 0;
const never = Number.POSITIVE_INFINITY;

/** A key that waits, is delayed or runs. Idle keys have no entry and take no memory. */
interface Entry {
  readonly key: string;
  place: "waiting" | "delayed" | "running";
  /** When the key must run. While it runs: the earliest time for which it was added meanwhile, or never. */
  due: number;
  /** The priority of that run. */
  priority: Priority;
  /** Failures in a row. */
  failures: number;
  startedAt: number;
  previous: Entry | undefined;
  next: Entry | undefined;
  heapIndex: number;
  heapTurn: number;
}

export interface MemoryQueueOptions {
  readonly clock?: Clock;
  readonly backoff?: Partial<Backoff>;
  readonly listener?: QueueListener;
}

export class MemoryQueue implements Queue {
  readonly name: string;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #listener: QueueListener | undefined;

  readonly #entries = new Map<string, Entry>();
  readonly #waiting: Readonly<Record<Priority, LinkedList<Entry>>> = { changed: new LinkedList(), initial: new LinkedList() };
  readonly #delayed: Delays<Entry>;
  readonly #running = new LinkedList<Entry>(); // in the order of their start
  readonly #turns: Turns;

  #worker: Worker | undefined;
  #concurrency = 0;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(name: string, { clock = systemClock, backoff, listener }: MemoryQueueOptions = {}) {
    this.name = name;
    this.#clock = clock;
    this.#backoff = { ...defaultBackoff, ...backoff };
    this.#listener = listener;
    this.#delayed = new Delays(clock, (entry) => {
      this.#place(entry);
      this.#wake();
    });
    this.#turns = new Turns(clock, () => this.#dispatch());
  }

  add(key: string, { after = 0, priority = "changed" }: AddOptions = {}): void {
    if (Number.isNaN(after)) throw new RangeError(`queue ${this.name}: ${key} was added with a delay that is not a number`);
    if (this.#drained) return;
    // Reading the clock takes as long as all the rest. Without a delay, only a listener needs the time since when a key waits.
    const due = after > 0 || this.#listener ? this.#clock.now() + Math.max(after, 0) : atOnce;
    const entry = this.#entries.get(key);
    if (entry) this.#hasten(entry, due, priority);
    else this.#place(this.#enter(key, due, priority));
    this.#wake();
  }

  start(worker: Worker, concurrency: number): void {
    if (!(concurrency >= 1)) throw new RangeError(`queue ${this.name}: a concurrency of ${concurrency} would never run anything`);
    if (this.#worker) throw new Error(`queue ${this.name} was started before`);
    this.#worker = worker;
    this.#concurrency = concurrency;
    this.#wake();
  }

  drain(): Promise<void> {
    if (!this.#drained) {
      this.#drained = Promise.withResolvers();
      this.#entries.clear();
      this.#waiting.changed.clear();
      this.#waiting.initial.clear();
      this.#delayed.clear();
      if (this.#running.size === 0) this.#drained.resolve();
    }
    return this.#drained.promise;
  }

  observe(): QueueState {
    const now = this.#clock.now();
    let unfinished = 0;
    for (const { startedAt } of this.#running) unfinished += now - startedAt;
    return {
      waiting: { changed: this.#waiting.changed.size, initial: this.#waiting.initial.size },
      delayed: this.#delayed.size,
      running: this.#running.size,
      unfinished,
      longestRunning: this.#running.first ? now - this.#running.first.startedAt : 0,
    };
  }

  #enter(key: string, due: number, priority: Priority): Entry {
    const entry: Entry = {
      key,
      place: "waiting",
      due,
      priority,
      failures: 0,
      startedAt: 0,
      previous: undefined,
      next: undefined,
      heapIndex: 0,
      heapTurn: 0,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Puts an entry that is in no list where its due time demands. */
  #place(entry: Entry): void {
    if (entry.due === never) {
      this.#entries.delete(entry.key);
    } else if (entry.due !== atOnce && entry.due > this.#clock.now()) {
      entry.place = "delayed";
      this.#delayed.add(entry);
    } else {
      entry.place = "waiting";
      this.#waiting[entry.priority].push(entry);
      this.#listener?.added(entry.key, entry.priority);
    }
  }

  /** Adds to an existing entry: the earlier time and the higher priority win. */
  #hasten(entry: Entry, due: number, priority: Priority): void {
    const urgency = moreUrgent(priority, entry.priority);
    switch (entry.place) {
      case "running": // noted here, and used for the next run when this one has ended
        entry.due = Math.min(due, entry.due);
        entry.priority = urgency;
        return;
      case "waiting":
        if (urgency === entry.priority) return;
        this.#waiting[entry.priority].remove(entry);
        entry.priority = urgency;
        this.#waiting[urgency].push(entry);
        return;
      case "delayed":
        entry.priority = urgency;
        if (due >= entry.due) return;
        this.#delayed.remove(entry);
        entry.due = due;
        this.#place(entry);
        return;
    }
  }

  /** Requests a turn. Runs never begin within the caller's code: keys that it adds in one go are sorted and deduplicated first. */
  #wake(): void {
    if (this.#running.size < this.#concurrency && this.#first()) this.#turns.ask();
  }

  #first(): Entry | undefined {
    return this.#waiting.changed.first ?? this.#waiting.initial.first;
  }

  /** Begins as many runs as allowed, or leaves the rest to another turn when this one has become long. */
  #dispatch(): void {
    while (this.#worker && this.#running.size < this.#concurrency) {
      const entry = this.#first();
      if (!entry) return;
      const now = this.#clock.now();
      if (!this.#turns.take(now)) {
        this.#turns.ask();
        return;
      }
      void this.#run(entry, this.#worker, now);
    }
  }

  async #run(entry: Entry, worker: Worker, now: number): Promise<void> {
    const run: Run = { attempt: entry.failures + 1, priority: entry.priority };
    this.#waiting[entry.priority].remove(entry);
    this.#running.push(entry);
    this.#listener?.started(entry.key, run, now - entry.due);
    entry.place = "running";
    entry.startedAt = now;
    entry.due = never;
    entry.priority = "initial";
    let outcome: Outcome;
    try {
      outcome = await worker(entry.key, run);
      // Treated as 0, it would cause a loop without any pause.
      if (outcome.kind === "again" && Number.isNaN(outcome.after)) throw new RangeError("again after a delay that is not a number");
    } catch (error) {
      this.#listener?.rejected(entry.key, error);
      outcome = retry;
    }
    this.#end(entry, run, outcome);
  }

  #end(entry: Entry, run: Run, outcome: Outcome): void {
    this.#running.remove(entry);
    this.#listener?.ended(entry.key, outcome, this.#clock.now() - entry.startedAt);
    if (this.#drained) {
      if (this.#running.size === 0) this.#drained.resolve();
      return;
    }
    if (outcome.kind === "retry") {
      entry.failures++;
      const now = this.#clock.now();
      const requested = Math.min(entry.due, now + Math.max(outcome.within ?? Number.POSITIVE_INFINITY, 0));
      entry.due = retryTime(now, entry.failures, requested, this.#backoff);
    } else {
      entry.failures = 0;
      if (outcome.kind === "again") entry.due = Math.min(entry.due, this.#clock.now() + Math.max(outcome.after, 0));
    }
    if (outcome.kind !== "done") entry.priority = moreUrgent(entry.priority, run.priority);
    this.#place(entry);
    this.#dispatch();
  }
}

// The requests that recorded events cause, with a fake clock.
import { expect, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import { ApiError, NotFound } from "../kube/errors.ts";
import type { Key, KubeObject } from "../kube/object.ts";
import { type EventContent, EventRecorder } from "./events.ts";

const minutes = 60_000;
const call = { method: "POST", path: "/" };

/** Stores events as an API server does: only a created event can be counted on. */
class Events {
  readonly counts = new Map<string, number>();
  readonly created: (KubeObject & { note?: string; reportingInstance?: string })[] = [];
  readonly dropped: string[] = [];
  readonly clock = new FakeClock();
  patches = 0;
  failure: Error | undefined;
  latency = 0;
  readonly recorder: EventRecorder;

  constructor() {
    this.recorder = new EventRecorder({
      client: { create: (_, object) => this.#create(object), mergePatch: (_, key, patch) => this.#patch(key, patch) as never },
      reportingController: "test/controller",
      reportingInstance: "i".repeat(200),
      onDropped: ({ message }) => this.dropped.push(message),
      now: () => this.clock.now(),
      wallClock: () => new Date(this.clock.now()),
    });
  }

  async #create<T extends KubeObject>(object: T): Promise<T> {
    await this.#answer();
    this.created.push(object);
    this.counts.set(object.metadata.name, 1);
    return object;
  }

  async #patch({ name }: Key, patch: object): Promise<void> {
    this.patches++;
    if (!this.counts.has(name)) throw new NotFound(call, 404, {});
    await this.#answer();
    this.counts.set(name, (patch as { series: { count: number } }).series.count);
  }

  async #answer(): Promise<void> {
    await new Promise<void>((resolve) => void this.clock.schedule(this.latency, resolve));
    if (this.failure) throw this.failure;
  }

  async record(times: number, content?: (index: number) => Partial<EventContent>, uid?: string): Promise<void> {
    this.say(times, content, uid);
    await this.clock.advance(this.latency);
  }

  say(times: number, content: (index: number) => Partial<EventContent> = () => ({}), uid = "1"): void {
    for (let index = 0; index < times; index++) {
      const metadata = { name: "x", namespace: "n", uid };
      const said = { type: "Normal", reason: "Done", action: "Do", note: "It is done.", ...content(index) } as const;
      this.recorder.record({ apiVersion: "v1", kind: "Thing", metadata }, said);
    }
  }

  get state(): number[] {
    return [...this.counts.values()];
  }
}

test("a repeated event raises the count of the first, at once the second time and then once a minute", async () => {
  const events = new Events();
  await events.record(1);
  await events.record(1);
  expect(events.state).toEqual([2]);
  await events.record(100);
  expect(events.state).toEqual([2]);
  await events.clock.advance(minutes);
  await events.record(1);
  expect(events.state).toEqual([103]);
  expect(events.patches).toBe(2);
});

test("a count is sent after the event that it is counted on", async () => {
  const events = new Events();
  events.latency = 500;
  await events.record(2);
  await events.clock.advance(500);
  expect([events.state, events.dropped]).toEqual([[2], []]);
});

test("after ten minutes the same content is a new event", async () => {
  const events = new Events();
  await events.record(1);
  await events.clock.advance(10 * minutes - 1);
  await events.record(1);
  expect(events.state).toEqual([2]);
  await events.clock.advance(1);
  await events.record(1);
  expect(events.state).toEqual([2, 1]);
});

test.each<[string, (index: number) => Partial<EventContent>]>([
  ["type", (index) => ({ type: index ? "Warning" : "Normal" })],
  ["reason", (index) => ({ reason: `Reason${index}` })],
  ["action", (index) => ({ action: `Action${index}` })],
  ["note", (index) => ({ note: `Note ${index}.` })],
])("another %s is another event", async (_, content) => {
  const events = new Events();
  await events.record(2, content);
  expect(events.state).toEqual([1, 1]);
});

test("another object is another event", async () => {
  const events = new Events();
  await events.record(1, undefined, "1");
  await events.record(1, undefined, "2");
  expect(events.state).toEqual([1, 1]);
});

test("an object may have 25 different events at once and one more every five minutes, independent of other objects", async () => {
  const events = new Events();
  let said = 0;
  const different = () => ({ note: `Note ${said++}.` });
  await events.record(100, different);
  expect(events.created).toHaveLength(25);
  await events.record(1, different, "2");
  expect(events.created).toHaveLength(26);
  await events.clock.advance(5 * minutes - 1);
  await events.record(1, different);
  expect(events.created).toHaveLength(26);
  await events.clock.advance(1);
  await events.record(3, different);
  expect(events.created).toHaveLength(27);
  await events.clock.advance(10_000 * minutes);
  await events.record(100, different);
  expect(events.created).toHaveLength(27 + 25);
});

test("at most 64 requests for events are under way", async () => {
  const events = new Events();
  events.latency = 1000;
  for (let uid = 0; uid < 100; uid++) events.say(1, undefined, String(uid));
  await events.clock.advance(1000);
  expect([events.created.length, events.dropped.length]).toEqual([64, 36]);
  await events.record(1, undefined, "99");
  expect(events.created).toHaveLength(65);
});

test("after an event was refused, the same event is created again and not counted", async () => {
  const events = new Events();
  events.failure = new ApiError(call, 403, { message: "no" });
  await events.record(1);
  events.failure = undefined;
  await events.record(1);
  expect([events.state, events.dropped]).toEqual([[1], ["POST /: no"]]);
});

test("a refused count is included in the next one; an event that is gone is created again without a complaint", async () => {
  const events = new Events();
  await events.record(1);
  events.failure = new ApiError(call, 500, { message: "no" });
  await events.record(1);
  events.failure = undefined;
  await events.clock.advance(minutes);
  await events.record(1);
  expect([events.state, events.dropped.splice(0)]).toEqual([[3], ["POST /: no"]]);
  events.counts.clear();
  await events.clock.advance(minutes);
  await events.record(1);
  await events.record(1);
  expect([events.state, events.dropped]).toEqual([[1], []]);
});

test.each([
  ["short", "It is done.", "It is done."],
  ["as long as it may be", "ä".repeat(512), "ä".repeat(512)],
  ["too long", "x".repeat(2000), `${"x".repeat(1021)}…`],
  ["too long in bytes alone, and no character is cut", "ä".repeat(513), `${"ä".repeat(510)}…`],
  ["too long, of characters with two units", "😀".repeat(300), `${"😀".repeat(255)}…`],
])("a note that is %s", async (_, note, expected) => {
  const events = new Events();
  await events.record(1, () => ({ note }));
  expect(events.created[0]?.note).toBe(expected);
  expect(events.created[0]?.reportingInstance).toHaveLength(128);
});

test("flushed waits for every request under way, also for those that fail", async () => {
  const events = new Events();
  events.latency = 100;
  events.failure = new Error("no");
  let flushed = false;
  events.say(1);
  void events.recorder.flushed().then(() => {
    flushed = true;
  });
  await events.clock.advance(99);
  expect(flushed).toBe(false);
  await events.clock.advance(1);
  expect(flushed).toBe(true);
  expect(events.dropped).toEqual(["no"]);
});

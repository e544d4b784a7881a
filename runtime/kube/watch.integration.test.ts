// Watches on a real API server: their events, how they end, and their failures.
import { beforeEach, expect, test } from "vitest";
import { errorEvent, failure } from "../../e2e/faults/answers.ts";
import { startSuite } from "../../e2e/faults/suite.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import type { WatchOptions } from "./client.ts";
import { Aborted, Gone, Unreachable } from "./errors.ts";
import { type ConfigMap, configMap, configMaps, inDefault } from "./test-connection.fixture.ts";
import type { WatchEvent } from "./watch-events.ts";

const { proxy, connection } = await startSuite();

beforeEach(() => proxy.heal());

/** A watch of the ConfigMaps in the default namespace, with the events so far. */
class Watching {
  readonly events: WatchEvent<ConfigMap>[] = [];
  readonly ended: Promise<Error | undefined>;
  readonly #controller = new AbortController();
  isOpen = false;

  constructor(options: Partial<WatchOptions>, onEvents: (events: readonly WatchEvent<ConfigMap>[]) => void = () => {}) {
    const onOpen = () => {
      this.isOpen = true;
    };
    const usual = { namespace: "default", timeoutSeconds: 20, initialEvents: false, onOpen, signal: this.#controller.signal };
    const watch = connection.client.watch(configMaps, { ...usual, ...options }, (events) => {
      this.events.push(...events);
      onEvents(events);
    });
    this.ended = watch.then(
      () => undefined,
      (error: Error) => error,
    );
  }

  /** Begins now. */
  static async fromNow(onEvents?: (events: readonly WatchEvent<ConfigMap>[]) => void): Promise<Watching> {
    const { resourceVersion } = await connection.client.list(configMaps, { namespace: "default", limit: 1 });
    const watching = new Watching({ resourceVersion }, onEvents);
    await eventually("the watch is open", 5000, () => watching.isOpen);
    return watching;
  }

  get lines(): string[] {
    return this.events.map(({ type, object }) => `${type} ${object.metadata.name} ${object.data?.["text"]}`);
  }

  abort(): void {
    this.#controller.abort();
  }
}

test("a watch brings events in the order of the writes, with complete objects", async () => {
  const watching = await Watching.fromNow();
  const { client } = connection;
  await client.create(configMaps, configMap("followed", { text: "Zürich 🐘" }));
  await client.mergePatch(configMaps, inDefault("followed"), { data: { text: "象" } });
  await client.delete(configMaps, inDefault("followed"));
  await eventually("all have come", 5000, () => watching.events.length === 3);
  expect(watching.lines).toEqual(["ADDED followed Zürich 🐘", "MODIFIED followed 象", "DELETED followed 象"]);
  watching.abort();
  expect(await watching.ended).toBeInstanceOf(Aborted);
  await eventually("the API server is rid of it", 5000, () => proxy.inFlight({ verb: "watch" }) === 0);
});

test("a watch can begin with existing objects: a bookmark marks their end, and changes follow", async () => {
  const { client } = connection;
  await client.create(configMaps, { ...configMap("there"), metadata: { ...inDefault("there"), labels: { listed: "yes" } } });
  const watching = new Watching({ initialEvents: true, labelSelector: "listed=yes" });
  const [first, mark] = await eventually("the mark has come", 5000, () => watching.events.length === 2 && watching.events);
  expect(first).toMatchObject({ type: "ADDED", object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "there" } } });
  expect(mark).toMatchObject({ type: "BOOKMARK", object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } } });
  const resumed = new Watching({ resourceVersion: mark?.object.metadata.resourceVersion, labelSelector: "listed=yes" });
  await client.delete(configMaps, inDefault("there"));
  // A further bookmark may come after it.
  await eventually("both see the end", 5000, () => [watching, resumed].every(({ lines }) => lines.includes("DELETED there undefined")));
  expect(resumed.lines.filter((line) => !line.startsWith("BOOKMARK"))).toEqual(["DELETED there undefined"]);
  for (const each of [watching, resumed]) each.abort();
});

test("a watch ends by itself when its time is over", async () => {
  const begin = performance.now();
  const watching = new Watching({ timeoutSeconds: 1 });
  expect(await watching.ended).toBeUndefined();
  expect(performance.now() - begin).toBeGreaterThan(900);
  expect(watching.isOpen).toBe(true);
});

test.each([
  ["an event", errorEvent(410), true],
  ["an answer", failure(410), false],
])("a watch from a version that is too old fails with Gone, told as %s", async (_, answer, opens) => {
  proxy.answer({ verb: "watch" }, answer, 1);
  const watching = new Watching({});
  expect(await watching.ended).toBeInstanceOf(Gone);
  expect([watching.isOpen, watching.events]).toEqual([opens, []]);
});

test("a line that is cut in the middle is no event of a watch", async () => {
  const watching = await Watching.fromNow();
  await connection.client.create(configMaps, configMap("whole"));
  await eventually("the first has come", 5000, () => watching.events.length === 1);
  proxy.cutMiddle({ verb: "watch" }, 1);
  await connection.client.create(configMaps, configMap("cut"));
  expect(await watching.ended).toBeInstanceOf(Unreachable);
  expect(watching.lines).toEqual(["ADDED whole undefined"]);
});

test("a subscriber that throws on an event ends the watch with its error", async () => {
  const refusal = new Error("not this one");
  const watching = await Watching.fromNow(() => {
    throw refusal;
  });
  await connection.client.create(configMaps, configMap("not-taken"));
  expect(await watching.ended).toBe(refusal);
  await eventually("the API server is rid of it", 5000, () => proxy.inFlight({ verb: "watch" }) === 0);
});

test("replacing the connections after a failed call leaves a watch alone", async () => {
  const watching = await Watching.fromNow();
  const hold = proxy.hold({ verb: "get", name: "never" });
  const late = connection.client.get(configMaps, inDefault("never"), { deadline: 100 });
  await expect(late).rejects.toThrow(Unreachable);
  hold.release();
  await connection.client.create(configMaps, configMap("seen-on-the-old-one"));
  await eventually("the event has come", 5000, () => watching.lines.includes("ADDED seen-on-the-old-one undefined"));
  watching.abort();
  expect(await watching.ended).toBeInstanceOf(Aborted);
});

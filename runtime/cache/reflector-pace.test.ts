// How often a reflector sends requests while they fail, and what it reports about itself meanwhile.
import { describe, expect, onTestFinished, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import { apiError, Unreachable } from "../kube/errors.ts";
import { Reflector } from "./reflector.ts";
import { type Behavior, ScriptedServer, type ScriptedWatch } from "./scripted-server.fixture.ts";
import { Store } from "./store.ts";
import { type Thing, things } from "./thing.fixture.ts";

const minutes = 60_000;
const call = { method: "WATCH", path: "/things" };
const refusal = (code: number, retryAfter?: string) => apiError(call, code, { message: `answered ${code}` }, retryAfter);
const reset = new Unreachable("connection reset");

async function stage(behavior: Behavior) {
  const clock = new FakeClock();
  const server = new ScriptedServer();
  server.behavior = behavior;
  let listed = 0;
  const reflector = new Reflector<Thing>({
    client: server.client,
    resource: things,
    selection: {},
    store: new Store<Thing>({ now: () => clock.now() }),
    onChange: () => undefined,
    listener: { listed: () => listed++, watchEnded: () => undefined },
    clock,
    random: () => 0,
  });
  const stop = new AbortController();
  void reflector.run(stop.signal);
  onTestFinished(() => stop.abort());
  await clock.advance(0);
  return { clock, server, reflector, listed: () => listed };
}

const initial = (watch: ScriptedWatch) => watch.open().initial(10);

describe("requests over ten minutes", () => {
  // 0.8 s, doubled up to 30 s: 6 waits make 50 s, then two a minute.
  test.each([
    ["410 on every watch", (watch) => watch.end(refusal(410)), { watches: [24, 26], lists: [24, 26] }],
    ["410 in every watch", (watch) => watch.open().end(refusal(410)), { watches: [24, 26], lists: [24, 26] }],
    ["connections that are reset at once", (watch) => watch.open().end(reset), { watches: [24, 26], lists: [2, 2] }],
    ["watches that end at once", (watch) => watch.open().end(), { watches: [24, 26], lists: [2, 2] }],
    ["500 on everything", (watch) => watch.end(refusal(500)), { watches: [10, 26], lists: [24, 26] }],
    [
      "410 whenever a watch is resumed, and streams that die after the mark",
      (watch) => (watch.options.initialEvents ? initial(watch).end(reset) : watch.end(refusal(410))),
      { watches: [40, 52], lists: [20, 26] },
    ],
    [
      "watches that bring an event, and die",
      (watch) => (watch.options.initialEvents ? initial(watch).end(reset) : watch.open().bookmark(11).end(reset)),
      { watches: [700, 760], lists: [1, 1] },
    ],
  ] satisfies [string, Behavior, { watches: [number, number]; lists: [number, number] }][])("%s", async (_, behavior, expected) => {
    const { clock, server, listed } = await stage(behavior);
    if (behavior.toString().includes("500")) server.listing = refusal(500);
    await clock.advance(10 * minutes);
    const within = ([least, most]: readonly [number, number], count: number) => (count >= least && count <= most ? "as expected" : count);
    expect({ watches: within(expected.watches, server.watches.length), lists: within(expected.lists, listed()) }).toEqual({
      watches: "as expected",
      lists: "as expected",
    });
  });
});

describe("a reflector at an API server without WatchList", () => {
  test("lists at once, and never requests a WatchList again", async () => {
    const { clock, server, reflector } = await stage((watch) => (watch.options.initialEvents ? watch.end(refusal(422)) : watch.open()));
    expect([clock.now(), reflector.isSynced]).toEqual([0, true]);
    expect(server.latest.options).toMatchObject({ initialEvents: false, resourceVersion: "1" });
    server.latest.end(refusal(410));
    await clock.advance(minutes);
    expect([server.watchLists, server.lists]).toEqual([1, 2]);
  });

  test("alternates WatchList and list while it is unsupported for a time, and returns to WatchList once a watch has worked", async () => {
    const { clock, server } = await stage((watch) => (watch.options.initialEvents ? watch.end(refusal(500)) : undefined));
    server.listing = refusal(500);
    await clock.advance(800 + 1600 + 3200);
    expect([server.watchLists, server.lists]).toEqual([2, 2]);
    server.listing = { items: [], resourceVersion: "7", continueToken: undefined };
    await clock.advance(6400 + 12_800);
    expect([server.watchLists, server.lists]).toEqual([3, 3]);
    server.latest.open().bookmark(8).end(refusal(410));
    await clock.advance(800);
    expect([server.watchLists, server.lists]).toEqual([4, 3]);
  });
});

describe("a reflector that was asked to come back later", () => {
  test.each([
    [429, "7", 7000],
    [503, "7", 7000],
    [429, undefined, 1000],
    [429, "0", 1000],
    [429, "9999999", 300_000],
  ])("%s with Retry-After %s: sends nothing before, and then requests a WatchList again", async (code, retryAfter, wait) => {
    const { clock, server } = await stage((watch) => watch.end(refusal(code, retryAfter)));
    await clock.advance(wait - 1);
    expect([server.watches.length, server.lists]).toEqual([1, 0]);
    await clock.advance(1);
    expect([server.watchLists, server.lists]).toEqual([2, 0]);
  });
});

test("a request for a watch without an answer is aborted after half a minute", async () => {
  const { clock, server, reflector } = await stage(() => undefined);
  await clock.advance(29_999);
  expect([server.latest.options.signal.aborted, reflector.problem]).toEqual([false, undefined]);
  await clock.advance(1);
  expect(server.watches[0]?.options.signal.aborted).toBe(true);
  expect(reflector.problem?.message).toBe("nothing was heard on the watch for 30 s (it was 30 s old)");
});

test("a reflector reports its problem and the length of the silence until a watch is open again", async () => {
  const { clock, server, reflector } = await stage(initial);
  const state = () => [reflector.isSynced, reflector.problem?.message, Math.round(reflector.silentSeconds)];
  expect(state()).toEqual([true, undefined, 0]);
  server.behavior = (watch) => watch.end(refusal(403));
  server.latest.end(reset);
  await clock.advance(1);
  expect(state()).toEqual([true, "connection reset", 0]);
  await clock.advance(20_000);
  expect(state()).toEqual([true, "WATCH /things: answered 403", 20]);
  server.behavior = (watch) => watch.open();
  await clock.advance(10_000);
  expect(state()).toEqual([true, undefined, 5]);
});

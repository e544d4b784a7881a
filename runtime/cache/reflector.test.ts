import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import { apiError, Unreachable } from "../kube/errors.ts";
import { Reflector } from "./reflector.ts";
import { type Behavior, ScriptedServer } from "./scripted-server.fixture.ts";
import { Store } from "./store.ts";
import { type Thing, thing, things, versionsOf } from "./thing.fixture.ts";

const minutes = 60_000;
const call = { method: "WATCH", path: "/things" };
const gone = apiError(call, 410, { reason: "Expired" });
const reset = new Unreachable("connection reset");

async function stage(behavior: Behavior = () => undefined) {
  const clock = new FakeClock();
  const server = new ScriptedServer();
  server.behavior = behavior;
  const store = new Store<Thing>({ now: () => clock.now() });
  const told: string[] = [];
  const ends: (string | undefined)[] = [];
  let listed = 0;
  const reflector = new Reflector<Thing>({
    client: server.client,
    resource: things,
    selection: {},
    store,
    onChange: ({ type, object }) => told.push(`${type} ${object.metadata.name}`),
    listener: { listed: () => listed++, watchEnded: (error) => ends.push(error?.message) },
    clock,
    random: () => 0,
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  onTestFinished(() => stop.abort());
  await clock.advance(0);
  return { clock, server, store, told, ends, reflector, stop, running, listed: () => listed };
}

/** A reflector that synced by a WatchList at version 10. */
async function syncedStage(...objects: Thing[]) {
  const all = await stage();
  all.server.latest.open().initial(10, ...objects);
  await all.reflector.synced;
  return all;
}

describe("a reflector without faults", () => {
  test("gets existing objects, the mark and changes in one stream", async () => {
    const { server, store, told, reflector, listed } = await stage();
    expect(server.latest.options).toMatchObject({ initialEvents: true, resourceVersion: undefined });
    server.latest.open().send("ADDED", thing("a"), thing("b")).bookmark(5); // not the mark
    expect(reflector.isSynced).toBe(false);
    server.latest
      .initial(10, thing("c"))
      .send("MODIFIED", thing("a", { version: 11 }))
      .send("DELETED", thing("b", { version: 12 }));
    await reflector.synced;
    expect(versionsOf(store.list())).toEqual(["a@11", "c@1"]);
    expect(told).toEqual(["added a", "added b", "added c", "changed a", "removed b"]);
    expect([listed(), server.lists, reflector.isSynced, reflector.problem]).toEqual([1, 0, true, undefined]);
  });

  test("resumes a watch that the server ends in time at once, from the last version", async () => {
    const { clock, server, listed } = await syncedStage();
    server.latest.send("ADDED", thing("a", { version: 15 }));
    await clock.advance(2 * minutes);
    server.latest.end();
    await clock.advance(0);
    expect(server.watches).toHaveLength(2);
    expect(server.latest.options).toMatchObject({ initialEvents: false, resourceVersion: "15" });
    expect(listed()).toBe(1);
  });

  test("takes the version of a bookmark for a quiet kind, and counts it as a sign of life", async () => {
    const { clock, server, listed } = await syncedStage();
    for (let minute = 1; minute <= 10; minute++) {
      await clock.advance(minutes);
      server.latest.bookmark(10 + minute);
    }
    expect(server.watches).toHaveLength(1);
    server.latest.end(reset);
    await clock.advance(minutes);
    expect(server.latest.options).toMatchObject({ resourceVersion: "20" });
    expect(listed()).toBe(1);
  });

  test("ends the overlay of an own write at a bookmark past it, though the watch never brought it", async () => {
    const { server, store } = await syncedStage();
    store.beginWrite({ namespace: "default", name: "own" }).settled(thing("own", { version: 15 }));
    const shown = [14, 15].map((version) => {
      server.latest.bookmark(version);
      return versionsOf(store.list());
    });
    expect(shown).toEqual([["own@15"], []]);
  });

  test.each(["a watch", "a pause", "a list"])("ends at once with its signal, in %s", async (when) => {
    const { clock, server, stop, running, ends } = await syncedStage();
    if (when !== "a watch") server.latest.end(gone);
    if (when === "a pause") await clock.advance(1);
    stop.abort();
    await running;
    expect([clock.armed, getEventListeners(stop.signal, "abort").length]).toEqual([0, 0]);
    expect(ends).toHaveLength(when === "a pause" ? 1 : 0);
  });

  test("leaves no listeners on the signal, which lives as long as the process", async () => {
    const { clock, server, stop } = await stage((watch) => watch.open().end(reset));
    await clock.advance(60 * minutes);
    expect(server.watches.length).toBeGreaterThan(50);
    expect(getEventListeners(stop.signal, "abort").length).toBeLessThanOrEqual(1);
  });
});

describe("a reflector whose version", () => {
  test("is too old lists again, and reports missing objects as removed", async () => {
    const { clock, server, told, listed } = await syncedStage(thing("a"), thing("b"));
    server.latest.end(gone);
    await clock.advance(800);
    expect(server.latest.options).toMatchObject({ initialEvents: true, resourceVersion: undefined });
    server.latest.open().initial(50, thing("b"));
    expect(told).toEqual(["added a", "added b", "removed a"]);
    expect(listed()).toBe(2);
  });

  test.each([
    ["an event", (server: ScriptedServer) => server.latest.send("ADDED", thing("b", { version: 5 }))],
    ["a bookmark", (server: ScriptedServer) => server.latest.bookmark(5)],
  ])("is higher than that of %s lists again: etcd was restored", async (_, show) => {
    const { clock, server, ends } = await syncedStage(thing("a"));
    show(server);
    await clock.advance(800);
    expect(ends).toEqual([expect.stringContaining("versions went back from 10 to 5")]);
    expect(server.latest.options).toMatchObject({ initialEvents: true, resourceVersion: undefined });
  });

  test("is in the future, so that watches bring nothing, lists again after the second silent watch", async () => {
    const { clock, server, listed } = await syncedStage();
    server.behavior = (watch) => watch.open();
    server.latest.end(reset);
    await clock.advance(800 + 150_000 + 1600);
    expect([server.watches.length, listed()]).toEqual([3, 1]);
    await clock.advance(150_000 + 3200);
    expect([server.watches.length, listed()]).toEqual([4, 2]);
  });

  test("is of a quiet kind on bad connections does not list: those watches were not silent, or never answered", async () => {
    const { clock, server, listed } = await syncedStage();
    for (const behavior of [(watch) => watch.open().end(reset), () => undefined] satisfies Behavior[]) {
      server.behavior = behavior;
      server.latest.end(reset);
      await clock.advance(20 * minutes);
    }
    expect(server.watches.length).toBeGreaterThan(20);
    expect(listed()).toBe(1);
  });
});

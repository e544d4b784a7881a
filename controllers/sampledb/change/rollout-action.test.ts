import { describe, expect, test } from "vitest";
import { instance, primary } from "../../database/instance.fixture.ts";
import type { Instance } from "../../database/instance.ts";
import { nextRolloutAction, type RolloutAction } from "./rollout-action.ts";

const old = { asked: "before" } as const;
const down = { ready: false, streaming: false } as const;
const lost = { ...down, problem: { reason: "NodeLost", message: "its node does not answer" } } as const;
const stuck = { ...down, role: "Unknown", problem: { reason: "ImagePullBackOff", message: "gone" } } as const;
const going = { ...down, going: true } as const;
const pending = (name = "shared_buffers", from = "128MB", to = "256MB") => ({ pendingRestart: [{ name, from, to }] });
const held = { heldSettings: ["max_wal_senders"] } as const;
const fewer = pending("max_connections", "200", "100");
const more = pending("max_connections", "100", "200");

/** In short: what is done, and to whom. */
function told(action: RolloutAction): string {
  switch (action.kind) {
    case "none":
      return "none";
    case "wait":
      return `wait for ${action.for}`;
    case "switchover":
      return `switchover ${action.from.podName} ${action.to.podName}`;
    default:
      return `${action.kind} ${action.instance.podName}`;
  }
}

const next = (instances: readonly Instance[], { wanted = instances.length, settled = true } = {}) =>
  told(nextRolloutAction({ instances, wanted, settled, asked: "now", newest: "newest" }));

describe("Pods that are outdated", () => {
  test.each<[string, Instance[], string]>([
    ["none", [primary(0), instance(1), instance(2)], "none"],
    ["replicas first, from the end", [primary(0, old), instance(1, old), instance(2, old)], "replace orders-2"],
    ["the next replica", [primary(0, old), instance(1, old), instance(2)], "replace orders-1"],
    ["then the switchover", [primary(0, old), instance(1), instance(2)], "switchover orders-0 orders-2"],
    ["then the old primary", [instance(0, old), instance(1), primary(2)], "replace orders-0"],
    ["wherever the primary is", [instance(0, old), primary(1, old), instance(2, old)], "replace orders-2"],
    [
      "one does not count for commits yet, which would wait for the next one alone",
      [primary(0, old), instance(1, old), instance(2, { mayTakeOver: false })],
      "wait for orders-2 to count for commits",
    ],
    [
      "or for the primary that was",
      [primary(0, old), instance(1, { mayTakeOver: false }), instance(2)],
      "wait for orders-1 to count for commits",
    ],
    ["a single one has nobody to hand over to", [primary(0, old)], "replace orders-0"],
    ["one is being made anew", [primary(0, old), instance(1, old), instance(2, going)], "wait for orders-2 to be ready"],
    [
      "one does not follow yet",
      [primary(0, old), instance(1, old), instance(2, { streaming: false })],
      "wait for orders-2 to follow the primary",
    ],
    ["nobody leads", [instance(0, old), instance(1, old)], "wait for a primary"],
  ])("%s", (_, instances, expected) => expect(next(instances)).toBe(expected));

  test("one is missing", () => {
    expect(next([primary(0, old), instance(1, old)], { wanted: 3 })).toBe("wait for all instances to be there");
  });
});

describe("what is broken and outdated is replaced at once", () => {
  test.each<[string, Instance[], string]>([
    ["a replica", [primary(0, old), instance(1, { ...old, ...down }), instance(2, old)], "replace orders-1"],
    ["while another is on its way", [primary(0, old), instance(1, { ...old, ...down }), instance(2, going)], "replace orders-1"],
    [
      "while nobody leads",
      [instance(0, { ...old, ...down, role: "Unknown" }), instance(1, { ...old, ...down, role: "Unknown" })],
      "replace orders-0",
    ],
    ["a single primary that does not answer", [primary(0, { ...old, ...down })], "replace orders-0"],
    ["not one that is going already", [primary(0, old), instance(1, { ...old, ...going })], "wait for orders-1 to be ready"],
    ["not the primary of several: others may have less", [primary(0, { ...old, ...down }), instance(1)], "wait for orders-0 to be ready"],
    ["not one that is as asked: it is at it", [primary(0), instance(1, down)], "none"],
    ["not one whose node does not answer", [primary(0, old), instance(1, { ...old, ...lost })], "wait for orders-1 to be ready"],
    ["one that can't start, and would be made differently now", [instance(0, { ...stuck, revision: "older" })], "replace orders-0"],
    ["not one that can't start and would be made the same", [instance(0, { ...stuck, revision: "newest" })], "none"],
    ["not one of an older make that is just starting", [primary(0), instance(1, { ...down, revision: "older" })], "none"],
    ["nor a single one", [primary(0, { ...old, ...lost })], "wait for orders-0 to be ready"],
  ])("%s", (_, instances, expected) => expect(next(instances)).toBe(expected));
});

describe("settings that need a restart", () => {
  test.each<[string, Instance[], string]>([
    ["replicas first", [primary(0, pending()), instance(1, pending()), instance(2, pending())], "restart orders-2"],
    ["the primary last, in its place", [primary(0, pending()), instance(1), instance(2)], "restart orders-0"],
    ["more connections: replicas first", [primary(0, more), instance(1, more)], "restart orders-1"],
    ["fewer connections: the primary first", [primary(0, fewer), instance(1, fewer)], "restart orders-0"],
    ["fewer connections, the primary has them: then the replicas", [primary(0), instance(1, fewer)], "restart orders-1"],
    [
      "9 connections in place of 10 are fewer, as numbers go",
      [primary(0, pending("max_wal_senders", "10", "9")), instance(1, pending())],
      "restart orders-0",
    ],
    [
      "less of what replicas are not bound by",
      [primary(0, pending("shared_buffers", "200", "100")), instance(1, pending())],
      "restart orders-1",
    ],
    [
      "an outdated Pod comes first: made anew it has both",
      [primary(0, pending()), instance(1, { ...old, ...pending() })],
      "replace orders-1",
    ],
    ["nothing while one does not answer", [primary(0, pending()), instance(1, { ...pending(), ...down })], "wait for orders-1 to be ready"],
    [
      "nothing while one does not count for commits",
      [primary(0, pending()), instance(1, pending()), instance(2, { mayTakeOver: false })],
      "wait for orders-2 to count for commits",
    ],
    ["without why", [primary(0), instance(1, { pendingRestart: [] })], "restart orders-1"],
    ["nobody has asked for them", [primary(0, held), instance(1, held)], "none"],
    [
      "nor that, and the primary has them since it was made anew: it could not be followed",
      [primary(0), instance(1, held)],
      "restart orders-1",
    ],
    ["the primary has them not", [primary(0, held), instance(1)], "none"],
    ["a replica is not bound by its primary in them", [primary(0), instance(1, { heldSettings: ["shared_buffers"] })], "none"],
  ])("%s", (_, instances, expected) => expect(next(instances)).toBe(expected));

  test("a replica that has read its settings before its primary did is not below it", () => {
    expect(next([primary(0), instance(1, held)], { settled: false })).toBe("none");
  });
});

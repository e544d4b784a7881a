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
const archive = pending("archive_mode", "off", "on");
const newest = { ...archive, revision: "newest" } as const;
const held = { heldSettings: ["max_wal_senders"] } as const;
const fewer = pending("max_connections", "200", "100");
const more = pending("max_connections", "100", "200");

/** The action as a short text. */
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

describe("a rollout of outdated Pods", () => {
  test.each<[string, Instance[], string]>([
    ["does nothing when there is none", [primary(0), instance(1), instance(2)], "none"],
    ["begins with the replica of the highest ordinal", [primary(0, old), instance(1, old), instance(2, old)], "replace orders-2"],
    ["goes on with the next lower replica", [primary(0, old), instance(1, old), instance(2)], "replace orders-1"],
    ["switches over when all replicas are new", [primary(0, old), instance(1), instance(2)], "switchover orders-0 orders-2"],
    ["replaces the former primary after the switchover", [instance(0, old), instance(1), primary(2)], "replace orders-0"],
    [
      "begins with the highest replica when the primary is between them",
      [instance(0, old), primary(1, old), instance(2, old)],
      "replace orders-2",
    ],
    [
      "waits for a new replica to count for commits before it replaces the next",
      [primary(0, old), instance(1, old), instance(2, { mayTakeOver: false })],
      "wait for orders-2 to count for commits",
    ],
    [
      "waits for a new replica to count for commits before it switches over",
      [primary(0, old), instance(1, { mayTakeOver: false }), instance(2)],
      "wait for orders-1 to count for commits",
    ],
    ["replaces a single instance without a switchover", [primary(0, old)], "replace orders-0"],
    ["waits while a Pod is being made anew", [primary(0, old), instance(1, old), instance(2, going)], "wait for orders-2 to be ready"],
    [
      "waits while a replica does not follow",
      [primary(0, old), instance(1, old), instance(2, { streaming: false })],
      "wait for orders-2 to follow the primary",
    ],
    ["waits while no instance leads", [instance(0, old), instance(1, old)], "wait for a primary"],
    [
      "replaces the Pod of an older make that begins to archive: its image may lack the programs",
      [primary(0, { ...archive, revision: "older" }), instance(1, { ...archive, revision: "older" })],
      "replace orders-1",
    ],
    ["restarts the server where the Pod is of the newest make", [primary(0, newest), instance(1, newest)], "restart orders-1"],
  ])("%s", (_, instances, expected) => expect(next(instances)).toBe(expected));

  test("waits while an instance is missing", () => {
    expect(next([primary(0, old), instance(1, old)], { wanted: 3 })).toBe("wait for all instances to be there");
  });
});

describe("a rollout replaces at once", () => {
  test.each<[string, Instance[], string]>([
    ["a broken, outdated replica", [primary(0, old), instance(1, { ...old, ...down }), instance(2, old)], "replace orders-1"],
    [
      "a broken, outdated replica while another is being made anew",
      [primary(0, old), instance(1, { ...old, ...down }), instance(2, going)],
      "replace orders-1",
    ],
    [
      "a broken, outdated instance while no instance leads",
      [instance(0, { ...old, ...down, role: "Unknown" }), instance(1, { ...old, ...down, role: "Unknown" })],
      "replace orders-0",
    ],
    ["a single outdated primary that does not answer", [primary(0, { ...old, ...down })], "replace orders-0"],
    [
      "not an outdated replica whose Pod is being deleted",
      [primary(0, old), instance(1, { ...old, ...going })],
      "wait for orders-1 to be ready",
    ],
    [
      "not the outdated primary of several: the others may have less data",
      [primary(0, { ...old, ...down }), instance(1)],
      "wait for orders-0 to be ready",
    ],
    ["not a replica that is down and as asked: it is starting", [primary(0), instance(1, down)], "none"],
    ["not an outdated replica on a lost node", [primary(0, old), instance(1, { ...old, ...lost })], "wait for orders-1 to be ready"],
    [
      "an instance that can't start, when its template has changed since",
      [instance(0, { ...stuck, revision: "older" })],
      "replace orders-0",
    ],
    ["not an instance that can't start, when its template is the newest", [instance(0, { ...stuck, revision: "newest" })], "none"],
    ["not a replica of an older template that is just starting", [primary(0), instance(1, { ...down, revision: "older" })], "none"],
    ["not a single outdated instance on a lost node", [primary(0, { ...old, ...lost })], "wait for orders-0 to be ready"],
  ])("%s", (_, instances, expected) => expect(next(instances)).toBe(expected));
});

describe("a rollout of settings that need a restart", () => {
  test.each<[string, Instance[], string]>([
    ["restarts replicas first", [primary(0, pending()), instance(1, pending()), instance(2, pending())], "restart orders-2"],
    ["restarts the primary last, without a switchover", [primary(0, pending()), instance(1), instance(2)], "restart orders-0"],
    ["restarts replicas first for more connections", [primary(0, more), instance(1, more)], "restart orders-1"],
    ["restarts the primary first for fewer connections", [primary(0, fewer), instance(1, fewer)], "restart orders-0"],
    ["restarts replicas for fewer connections once the primary has them", [primary(0), instance(1, fewer)], "restart orders-1"],
    [
      "compares values as numbers: 9 in place of 10 is less",
      [primary(0, pending("max_wal_senders", "10", "9")), instance(1, pending())],
      "restart orders-0",
    ],
    [
      "restarts replicas first for less of a setting that replicas may have less of",
      [primary(0, pending("shared_buffers", "200", "100")), instance(1, pending())],
      "restart orders-1",
    ],
    [
      "replaces an outdated Pod first, which brings the setting along",
      [primary(0, pending()), instance(1, { ...old, ...pending() })],
      "replace orders-1",
    ],
    [
      "waits while a replica does not answer",
      [primary(0, pending()), instance(1, { ...pending(), ...down })],
      "wait for orders-1 to be ready",
    ],
    [
      "waits while a replica does not count for commits",
      [primary(0, pending()), instance(1, pending()), instance(2, { mayTakeOver: false })],
      "wait for orders-2 to count for commits",
    ],
    ["restarts an instance whose pending restart has no reason", [primary(0), instance(1, { pendingRestart: [] })], "restart orders-1"],
    ["restarts nothing for held settings", [primary(0, held), instance(1, held)], "none"],
    [
      "restarts a replica for a held setting that its primary has since it was made anew: it could not follow",
      [primary(0), instance(1, held)],
      "restart orders-1",
    ],
    ["restarts nothing when the primary lacks a held setting that its replica has", [primary(0, held), instance(1)], "none"],
    [
      "restarts no replica for a held setting in which it may differ from its primary",
      [primary(0), instance(1, { heldSettings: ["shared_buffers"] })],
      "none",
    ],
  ])("%s", (_, instances, expected) => expect(next(instances)).toBe(expected));

  test("restarts nothing while a replica has read its settings and its primary has not yet", () => {
    expect(next([primary(0), instance(1, held)], { settled: false })).toBe("none");
  });
});

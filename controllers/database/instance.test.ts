import { describe, expect, test } from "vitest";
import type { Endpoint, Pod } from "../kinds/kubernetes.ts";
import { pod } from "./instance.fixture.ts";
import { instanceOf, problemOf } from "./instance.ts";

const running = { state: "running", role: "primary", timeline: 3 };
const leads = "orders-0";

describe("the role", () => {
  test.each<[string, object | string | undefined, string | undefined, string]>([
    ["the primary that holds the lock", running, leads, "Primary"],
    ["one that is being promoted", { ...running, role: "promoted" }, leads, "Primary"],
    ["a replica", { ...running, role: "replica" }, "orders-1", "Replica"],
    ["a replica that just got the lock is no primary before it says so", { ...running, role: "replica" }, leads, "Replica"],
    ["the Pod of a lost node says primary while another holds the lock", running, "orders-1", "Unknown"],
    ["it says primary and nobody holds the lock", running, undefined, "Unknown"],
    ["it has stopped", { ...running, state: "stopped" }, leads, "Unknown"],
    ["it has crashed", { ...running, state: "crashed" }, leads, "Unknown"],
    ["it was demoted", { ...running, role: "demoted" }, leads, "Unknown"],
    ["it is of no role that is known", { ...running, role: "emperor" }, leads, "Unknown"],
    ["there is no annotation", undefined, leads, "Unknown"],
    ["the annotation is garbage", "{not json", leads, "Unknown"],
    ["the annotation is empty", "", leads, "Unknown"],
    ["the annotation is no object", "42", leads, "Unknown"],
    ["the annotation is null", "null", leads, "Unknown"],
    ["the annotation is a list", "[]", leads, "Unknown"],
    ["the role is no text", { ...running, role: 7 }, leads, "Unknown"],
  ])("%s", (_, status, holder, role) => {
    expect(instanceOf(pod("orders-0", status === undefined ? {} : { status }), { leads: holder }).role).toBe(role);
  });
});

describe("readiness", () => {
  test.each([
    ["it answers", pod("orders-0", { status: running }), { ready: true, going: false }],
    ["it does not answer", pod("orders-0", { status: running, ready: false }), { ready: false, going: false }],
    [
      "it is going, and still answers",
      pod("orders-0", { status: running, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      { ready: false, going: true },
    ],
  ])("%s", (_, observed, expected) => expect(instanceOf(observed, { leads })).toMatchObject(expected));

  test("a Pod that is going has no problem: it was not starting any more", () => {
    const containerStatuses = [{ state: { waiting: { reason: "CrashLoopBackOff" } } }];
    const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(instanceOf(pod("orders-0", { containerStatuses }), { leads }).problem?.reason).toBe("CrashLoopBackOff");
    expect(instanceOf(pod("orders-0", { containerStatuses, metadata }), { leads }).problem).toBeUndefined();
  });
});

describe("who may take over", () => {
  const replica = { ...running, role: "replica", replication_state: "streaming" };
  test.each<[string, object, Set<string> | undefined, boolean]>([
    ["one that follows", replica, undefined, true],
    ["one that does not", { ...replica, replication_state: "in archive recovery" }, undefined, false],
    ["one that commits wait for", replica, new Set(["orders-0", "orders-1"]), true],
    ["one that they do not wait for", replica, new Set(["orders-1"]), false],
    ["commits are to wait, and there is nobody", replica, new Set<string>(), false],
  ])("%s", (_, status, synchronous, expected) => {
    expect(instanceOf(pod("orders-0", { status }), { leads: "orders-1", synchronous }).mayTakeOver).toBe(expected);
  });

  test.each<[string, Set<string> | undefined, boolean]>([
    ["the leader has written nobody down", undefined, true],
    ["it has this one", new Set(["orders-0", "orders-1"]), true],
    ["it has not looked since this one is back", new Set(["orders-1"]), false],
  ])("%s", (_, failsafe, expected) => {
    expect(instanceOf(pod("orders-0", { status: replica }), { leads: "orders-1", failsafe }).mayTakeOver).toBe(expected);
  });
});

describe("settings that wait for a restart", () => {
  test.each<[string, object, unknown]>([
    ["none", {}, undefined],
    [
      "told",
      { pending_restart: true, pending_restart_reason: { max_connections: { old_value: "100", new_value: "50" } } },
      [{ name: "max_connections", from: "100", to: "50" }],
    ],
    ["told without why", { pending_restart: true }, []],
    [
      "told as numbers",
      { pending_restart: true, pending_restart_reason: { a: { old_value: 1, new_value: null } } },
      [{ name: "a", from: "1", to: "" }],
    ],
    ["why, but not that", { pending_restart_reason: { a: {} } }, undefined],
    ["the reason is null", { pending_restart: true, pending_restart_reason: { a: null } }, [{ name: "a", from: "", to: "" }]],
  ])("%s", (_, told, expected) => {
    expect(instanceOf(pod("orders-0", { status: { ...running, ...told } }), { leads }).pendingRestart).toEqual(expected);
  });

  test.each<[string, string[], { pendingRestart: unknown; heldSettings: string[] }]>([
    ["all are held back", ["a", "b"], { pendingRestart: undefined, heldSettings: ["a", "b"] }],
    ["one was asked for", ["a", "c"], { pendingRestart: [{ name: "b", from: "1", to: "2" }], heldSettings: ["a"] }],
  ])("%s", (_, held, expected) => {
    const changed = { old_value: "1", new_value: "2" };
    const status = { ...running, pending_restart: true, pending_restart_reason: { a: changed, b: changed } };
    expect(instanceOf(pod("orders-0", { status }), { leads, held })).toMatchObject(expected);
  });
});

test.each([["3"], [3.5], [{}], [null]])("a timeline that is %j is not known: the status would be refused for it", (timeline) => {
  expect(instanceOf(pod("orders-0", { status: { ...running, timeline } }), { leads }).timeline).toBeUndefined();
});

test("what the Pod itself tells", () => {
  const labels = { "controller-revision-hash": "orders-abc" };
  const annotations = { "sampledb.io/asked": "digest" };
  expect(
    instanceOf(pod("orders-7", { status: { ...running, replication_state: "streaming" }, metadata: { labels, annotations } }), {}),
  ).toMatchObject({
    podName: "orders-7",
    uid: "uid-of-orders-7",
    ordinal: 7,
    revision: "orders-abc",
    takesWrites: false,
    asked: "digest",
    streaming: true,
    timeline: 3,
  });
});

describe("a Pod on a node that does not answer", () => {
  const conditions = [{ type: "ContainersReady", status: "True" }];
  const lost = { ...pod("orders-0", { ready: false, conditions }), spec: { nodeName: "node-1", containers: [] } };
  test.each<[string, Pod, string | undefined]>([
    ["lost", lost, "NodeLost"],
    ["lost and told to end", { ...lost, metadata: { ...lost.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }, "NodeLost"],
    ["it answers", pod("orders-0", { conditions }), undefined],
    ["its server does not", pod("orders-0", { ready: false, conditions: [{ type: "ContainersReady", status: "False" }] }), undefined],
    ["a load balancer has not taken it up", { ...lost, spec: { containers: [], readinessGates: [{ conditionType: "lb" }] } }, undefined],
  ])("%s", (_, observed, expected) => expect(instanceOf(observed, {}).problem?.reason).toBe(expected));
});

describe("why a Pod does not start", () => {
  const waiting = (reason: string, message?: string, lastState?: object) => ({ state: { waiting: { reason, message } }, lastState });
  test.each([
    ["it runs", pod("p", { containerStatuses: [{ state: { running: {} } }] }), undefined],
    ["it is being made", pod("p", { containerStatuses: [waiting("ContainerCreating")] }), undefined],
    [
      "it fits nowhere",
      pod("p", { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }] }),
      { reason: "Unschedulable", message: "0/3 nodes" },
    ],
    [
      "no image",
      pod("p", { containerStatuses: [waiting("ImagePullBackOff", "Back-off")] }),
      { reason: "ImagePullBackOff", message: "Back-off" },
    ],
    [
      "it crashes: what it said last, not how long is waited",
      pod("p", {
        containerStatuses: [waiting("CrashLoopBackOff", "back-off 10s", { terminated: { exitCode: 2, message: "bad setting" } })],
      }),
      { reason: "CrashLoopBackOff", message: "ended with exit code 2: bad setting" },
    ],
  ])("%s", (_, observed, expected) => expect(problemOf(observed)).toEqual(expected));
});

describe("where the read-write Service leads", () => {
  const podIPs = [{ ip: "10.0.0.7" }, { ip: "fd00::7" }];
  const there = { addresses: ["10.0.0.7"], targetRef: { uid: "uid-of-orders-0" } };
  test.each<[string, Endpoint | undefined, boolean]>([
    ["to it", there, true],
    ["to its other address", { ...there, addresses: ["fd00::7"] }, true],
    ["nowhere", undefined, false],
    ["to an address that it had before its node was restarted", { ...there, addresses: ["10.0.0.6"] }, false],
    ["to another Pod that had its name", { ...there, targetRef: { uid: "older" } }, false],
    ["to what nobody named", { addresses: ["10.0.0.7"] }, false],
  ])("%s", (_, writesTo, expected) => {
    expect(instanceOf(pod("orders-0", { podIPs }), { writesTo }).takesWrites).toBe(expected);
  });
});

describe("whether it has ended", () => {
  const terminated = { exitCode: 137, reason: "Error", finishedAt: "2026-01-01T00:00:00Z" };
  const ended = { at: "2026-01-01T00:00:00Z", reason: "Error", exitCode: 137 };
  test.each<[string, object, object | undefined]>([
    ["it runs", { state: { running: {} } }, undefined],
    ["it runs again", { state: { running: {} }, lastState: { terminated } }, undefined],
    ["it has ended", { state: { terminated } }, ended],
    ["it waits to be started again", { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } }, ended],
    [
      "it was lost, after one that had ended",
      { state: { waiting: { reason: "ContainerCreating" } }, lastState: { terminated } },
      undefined,
    ],
    ["it is started for the first time", { state: { waiting: { reason: "ContainerCreating" } } }, undefined],
    ["another container has ended", { name: "exporter", state: { terminated } }, undefined],
    ["the runtime has lost it", { state: { terminated: { ...terminated, reason: "ContainerStatusUnknown" } } }, undefined],
    ["its shim was lost", { state: { terminated: { ...terminated, exitCode: 255 } } }, undefined],
    ["the runtime does not know how", { state: { terminated: { ...terminated, reason: "Unknown", exitCode: 255 } } }, undefined],
  ])("%s", (_, told, expected) => {
    expect(instanceOf(pod("orders-0", { containerStatuses: [{ name: "postgres", ...told }] }), { leads }).ended).toEqual(expected);
  });
});

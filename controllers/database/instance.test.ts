import { describe, expect, test } from "vitest";
import type { Endpoint, Pod } from "../kinds/kubernetes.ts";
import { pod } from "./instance.fixture.ts";
import { instanceOf, problemOf } from "./instance.ts";

const running = { state: "running", role: "primary", timeline: 3 };
const leads = "orders-0";

describe("the role of an instance", () => {
  test.each<[string, object | string | undefined, string | undefined, string]>([
    ["is Primary when it says primary and holds the lock", running, leads, "Primary"],
    ["is Primary while it is being promoted and holds the lock", { ...running, role: "promoted" }, leads, "Primary"],
    ["is Replica when it says replica", { ...running, role: "replica" }, "orders-1", "Replica"],
    ["is Replica while it has the lock and still says replica", { ...running, role: "replica" }, leads, "Replica"],
    ["is Unknown when it says primary while another holds the lock, as on a lost node", running, "orders-1", "Unknown"],
    ["is Unknown when it says primary and no instance holds the lock", running, undefined, "Unknown"],
    ["is Unknown when PostgreSQL has stopped", { ...running, state: "stopped" }, leads, "Unknown"],
    ["is Unknown when PostgreSQL has crashed", { ...running, state: "crashed" }, leads, "Unknown"],
    ["is Unknown when it was demoted", { ...running, role: "demoted" }, leads, "Unknown"],
    ["is Unknown when it says a role that does not exist", { ...running, role: "emperor" }, leads, "Unknown"],
    ["is Unknown when there is no annotation", undefined, leads, "Unknown"],
    ["is Unknown when the annotation is garbage", "{not json", leads, "Unknown"],
    ["is Unknown when the annotation is empty", "", leads, "Unknown"],
    ["is Unknown when the annotation is no object", "42", leads, "Unknown"],
    ["is Unknown when the annotation is null", "null", leads, "Unknown"],
    ["is Unknown when the annotation is a list", "[]", leads, "Unknown"],
    ["is Unknown when the role is no text", { ...running, role: 7 }, leads, "Unknown"],
  ])("%s", (_, status, holder, role) => {
    expect(instanceOf(pod("orders-0", status === undefined ? {} : { status }), { leads: holder }).role).toBe(role);
  });
});

describe("the readiness of an instance", () => {
  test.each([
    ["is true when its Pod is Ready", pod("orders-0", { status: running }), { ready: true, going: false }],
    ["is false when its Pod is not Ready", pod("orders-0", { status: running, ready: false }), { ready: false, going: false }],
    [
      "is false when its Pod is being deleted, even if it still answers",
      pod("orders-0", { status: running, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      { ready: false, going: true },
    ],
  ])("%s", (_, observed, expected) => expect(instanceOf(observed, { leads })).toMatchObject(expected));

  test("has no problem when its Pod is being deleted, because that Pod need not start any more", () => {
    const containerStatuses = [{ state: { waiting: { reason: "CrashLoopBackOff" } } }];
    const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(instanceOf(pod("orders-0", { containerStatuses }), { leads }).problem?.reason).toBe("CrashLoopBackOff");
    expect(instanceOf(pod("orders-0", { containerStatuses, metadata }), { leads }).problem).toBeUndefined();
  });
});

describe("an instance may take over", () => {
  const replica = { ...running, role: "replica", replication_state: "streaming" };
  test.each<[string, object, Set<string> | undefined, boolean]>([
    ["when it streams", replica, undefined, true],
    ["not when it does not stream", { ...replica, replication_state: "in archive recovery" }, undefined, false],
    ["when it streams and commits wait for it", replica, new Set(["orders-0", "orders-1"]), true],
    ["not when commits wait for another instance only", replica, new Set(["orders-1"]), false],
    ["not when commits are to wait and there is no instance to wait for", replica, new Set<string>(), false],
  ])("%s", (_, status, synchronous, expected) => {
    expect(instanceOf(pod("orders-0", { status }), { leads: "orders-1", synchronous }).mayTakeOver).toBe(expected);
  });

  test.each<[string, Set<string> | undefined, boolean]>([
    ["when the leader has written no failsafe list", undefined, true],
    ["when it is in the leader's failsafe list", new Set(["orders-0", "orders-1"]), true],
    ["not when the leader's failsafe list lacks it, as when it has just come back", new Set(["orders-1"]), false],
  ])("%s", (_, failsafe, expected) => {
    expect(instanceOf(pod("orders-0", { status: replica }), { leads: "orders-1", failsafe }).mayTakeOver).toBe(expected);
  });
});

describe("settings that wait for a restart", () => {
  test.each<[string, object, unknown]>([
    ["are undefined when Patroni reports no pending restart", {}, undefined],
    [
      "have their old and new values",
      { pending_restart: true, pending_restart_reason: { max_connections: { old_value: "100", new_value: "50" } } },
      [{ name: "max_connections", from: "100", to: "50" }],
    ],
    ["are an empty list when Patroni gives no reason", { pending_restart: true }, []],
    [
      "are texts when Patroni gives numbers",
      { pending_restart: true, pending_restart_reason: { a: { old_value: 1, new_value: null } } },
      [{ name: "a", from: "1", to: "" }],
    ],
    ["are undefined when Patroni gives a reason but no pending restart", { pending_restart_reason: { a: {} } }, undefined],
    [
      "have empty values when Patroni's reason is null",
      { pending_restart: true, pending_restart_reason: { a: null } },
      [{ name: "a", from: "", to: "" }],
    ],
  ])("%s", (_, told, expected) => {
    expect(instanceOf(pod("orders-0", { status: { ...running, ...told } }), { leads }).pendingRestart).toEqual(expected);
  });

  test.each<[string, string[], { pendingRestart: unknown; heldSettings: string[] }]>([
    ["are only held settings when the operator changed all of them", ["a", "b"], { pendingRestart: undefined, heldSettings: ["a", "b"] }],
    [
      "are apart from held settings when the user changed one of them",
      ["a", "c"],
      { pendingRestart: [{ name: "b", from: "1", to: "2" }], heldSettings: ["a"] },
    ],
  ])("%s", (_, held, expected) => {
    const changed = { old_value: "1", new_value: "2" };
    const status = { ...running, pending_restart: true, pending_restart_reason: { a: changed, b: changed } };
    expect(instanceOf(pod("orders-0", { status }), { leads, held })).toMatchObject(expected);
  });
});

test.each([["3"], [3.5], [{}], [null]])("a timeline of %j is dropped, because the API server would refuse a status with it", (timeline) => {
  expect(instanceOf(pod("orders-0", { status: { ...running, timeline } }), { leads }).timeline).toBeUndefined();
});

test("an instance has the name, ordinal, revision and digest of its Pod", () => {
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

describe("an instance counts as on a lost node", () => {
  const conditions = [{ type: "ContainersReady", status: "True" }];
  const lost = { ...pod("orders-0", { ready: false, conditions }), spec: { nodeName: "node-1", containers: [] } };
  test.each<[string, Pod, string | undefined]>([
    ["when its Pod is not Ready while its containers are", lost, "NodeLost"],
    [
      "when such a Pod is being deleted, too",
      { ...lost, metadata: { ...lost.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
      "NodeLost",
    ],
    ["not when its Pod is Ready", pod("orders-0", { conditions }), undefined],
    [
      "not when its containers are not ready either",
      pod("orders-0", { ready: false, conditions: [{ type: "ContainersReady", status: "False" }] }),
      undefined,
    ],
    [
      "not when its Pod has readiness gates, as of a load balancer",
      { ...lost, spec: { containers: [], readinessGates: [{ conditionType: "lb" }] } },
      undefined,
    ],
  ])("%s", (_, observed, expected) => expect(instanceOf(observed, {}).problem?.reason).toBe(expected));
});

describe("the problem of a Pod", () => {
  const waiting = (reason: string, message?: string, lastState?: object) => ({ state: { waiting: { reason, message } }, lastState });
  test.each([
    ["is undefined when it runs", pod("p", { containerStatuses: [{ state: { running: {} } }] }), undefined],
    ["is undefined while its container is being made", pod("p", { containerStatuses: [waiting("ContainerCreating")] }), undefined],
    [
      "is the scheduler's message when it fits nowhere",
      pod("p", { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }] }),
      { reason: "Unschedulable", message: "0/3 nodes" },
    ],
    [
      "is the kubelet's message when its image can't be pulled",
      pod("p", { containerStatuses: [waiting("ImagePullBackOff", "Back-off")] }),
      { reason: "ImagePullBackOff", message: "Back-off" },
    ],
    [
      "is the last message of the program when it crashes, not the length of the back-off",
      pod("p", {
        containerStatuses: [waiting("CrashLoopBackOff", "back-off 10s", { terminated: { exitCode: 2, message: "bad setting" } })],
      }),
      { reason: "CrashLoopBackOff", message: "ended with exit code 2: bad setting" },
    ],
  ])("%s", (_, observed, expected) => expect(problemOf(observed)).toEqual(expected));
});

describe("an instance takes writes", () => {
  const podIPs = [{ ip: "10.0.0.7" }, { ip: "fd00::7" }];
  const there = { addresses: ["10.0.0.7"], targetRef: { uid: "uid-of-orders-0" } };
  test.each<[string, Endpoint | undefined, boolean]>([
    ["when the endpoint has its uid and address", there, true],
    ["when the endpoint has its other address", { ...there, addresses: ["fd00::7"] }, true],
    ["not when there is no endpoint", undefined, false],
    ["not when the endpoint has the address from before its node restarted", { ...there, addresses: ["10.0.0.6"] }, false],
    ["not when the endpoint is an earlier Pod of its name", { ...there, targetRef: { uid: "older" } }, false],
    ["not when the endpoint names no Pod", { addresses: ["10.0.0.7"] }, false],
  ])("%s", (_, writesTo, expected) => {
    expect(instanceOf(pod("orders-0", { podIPs }), { writesTo }).takesWrites).toBe(expected);
  });
});

describe("the end of an instance", () => {
  const terminated = { exitCode: 137, reason: "Error", finishedAt: "2026-01-01T00:00:00Z" };
  const ended = { at: "2026-01-01T00:00:00Z", reason: "Error", exitCode: 137 };
  test.each<[string, object, object | undefined]>([
    ["is undefined while its container runs", { state: { running: {} } }, undefined],
    ["is undefined when its container runs again", { state: { running: {} }, lastState: { terminated } }, undefined],
    ["is reported when its container has ended", { state: { terminated } }, ended],
    [
      "is reported while its container waits in CrashLoopBackOff",
      { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } },
      ended,
    ],
    [
      "is undefined when a container was lost after an earlier one had ended",
      { state: { waiting: { reason: "ContainerCreating" } }, lastState: { terminated } },
      undefined,
    ],
    ["is undefined when its container starts for the first time", { state: { waiting: { reason: "ContainerCreating" } } }, undefined],
    ["is undefined when only the exporter has ended", { name: "exporter", state: { terminated } }, undefined],
    [
      "is undefined when the container runtime has lost the container",
      { state: { terminated: { ...terminated, reason: "ContainerStatusUnknown" } } },
      undefined,
    ],
    [
      "is undefined with exit code 255, as when containerd's shim was lost",
      { state: { terminated: { ...terminated, exitCode: 255 } } },
      undefined,
    ],
    ["is undefined with the reason Unknown", { state: { terminated: { ...terminated, reason: "Unknown", exitCode: 255 } } }, undefined],
  ])("%s", (_, told, expected) => {
    expect(instanceOf(pod("orders-0", { containerStatuses: [{ name: "postgres", ...told }] }), { leads }).ended).toEqual(expected);
  });
});

// A former leader that does not know yet that it lost the lease starts no write, whatever kept it from knowing.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import type { CandidateProcess } from "./candidate-process.fixture.ts";
import { Stage, shortTiming } from "./stage.fixture.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

const patches = { verb: "patch", resource: "configmaps" } as const;

async function openProxy(): Promise<{ proxy: FaultProxy } & AsyncDisposable> {
  const proxy = await FaultProxy.start(plane);
  return { proxy, [Symbol.asyncDispose]: () => proxy.stop() };
}

async function hasWritten(stage: Stage, identity: string, more = 5): Promise<void> {
  const enough = stage.writesOf(identity).length + more;
  await eventually(`${identity} writes`, 20_000, () => stage.writesOf(identity).length >= enough);
}

/** Long enough for a write in a black hole to end, and for the next one to get through. */
async function triesInVain(candidate: CandidateProcess): Promise<void> {
  await sleep(2000);
  candidate.send("exit");
}

test.concurrent("a leader that is stopped past its lease and resumed starts no write", async () => {
  await using stage = await Stage.open(plane.kubeconfig, "stopped");
  const a = stage.candidate("a");
  await a.told("leading");
  const b = stage.candidate("b");
  await b.told("following");
  await hasWritten(stage, "a");
  a.send("stop");
  await b.told("leading");
  await hasWritten(stage, "b");
  a.kill("SIGCONT");
  expect((await a.told("lost")).reason).toMatch(/not renewed within 4 s/);
  expect(await a.exited).toBe(1);
  await hasWritten(stage, "b");
  expect(stage.turns).toBe("a b");
});

test.concurrent("a leader that is cut off, and reconnected while it still tries to write, starts no write", async () => {
  await using stage = await Stage.open(plane.kubeconfig, "cut-off");
  await using opened = await openProxy();
  const { proxy } = opened;
  const a = stage.candidate("a", { kubeconfig: proxy.kubeconfig, linger: 60_000 });
  await a.told("leading");
  const b = stage.candidate("b");
  await b.told("following");
  await hasWritten(stage, "a");
  proxy.blackHole(true);
  const cutAt = performance.now();
  const lost = await a.told("lost");
  expect(lost.at - cutAt).toBeLessThan(shortTiming.leaseDuration);
  expect(b.has("leading")).toBe(false);
  await b.told("leading");
  await hasWritten(stage, "b");
  proxy.resetCounts();
  await proxy.heal();
  await triesInVain(a);
  expect(await a.exited).toBe(1);
  expect(proxy.count(patches)).toBe(0);
  expect(stage.turns).toBe("a b");
});

// A write under way can't be recalled: the guarantee is that none is started after the deadline.
test.concurrent("of a leader that is cut off with a write under way, that one may arrive late, and no other", async () => {
  await using stage = await Stage.open(plane.kubeconfig, "under-way");
  await using opened = await openProxy();
  const { proxy } = opened;
  const a = stage.candidate("a", { kubeconfig: proxy.kubeconfig, linger: 60_000 });
  await a.told("leading");
  const b = stage.candidate("b");
  await b.told("following");
  await hasWritten(stage, "a");
  const hold = proxy.hold(patches, 1);
  await eventually("a write is held", 5000, () => hold.hits === 1);
  proxy.blackHole(true);
  const inTime = stage.writesOf("a");
  const lost = await a.told("lost");
  await b.told("leading");
  await hasWritten(stage, "b");
  await proxy.heal();
  hold.release();
  await triesInVain(a);
  expect(await a.exited).toBe(1);
  await hasWritten(stage, "b");
  const late = stage.writesOf("a").slice(inTime.length);
  expect(late).toEqual([(inTime.at(-1) ?? 0) + 1]);
  expect(proxy.requests.filter(({ verb, startedAt }) => verb === "patch" && startedAt > lost.at)).toEqual([]);
});

// Not concurrent with the others: so many connections at once take their time.
test("a blocked leader does not send its writes that wait for a connection", async () => {
  await using stage = await Stage.open(plane.kubeconfig, "blocked");
  await using opened = await openProxy();
  const { proxy } = opened;
  const a = stage.candidate("a", { kubeconfig: proxy.kubeconfig, writeEvery: undefined, writeDeadline: 15_000 });
  await a.told("leading");
  const hold = proxy.hold(patches);
  a.send("write 40");
  await eventually("every connection has a write", 20_000, () => proxy.inFlight(patches) === 32);
  a.send(`block ${shortTiming.renewDeadline + 100}`);
  await sleep(500);
  hold.release();
  expect((await a.told("unblocked")).mayWrite).toBe(false);
  expect(await a.exited).toBe(1);
  expect(stage.writesOf("a")).toHaveLength(32);
  expect(proxy.count(patches)).toBe(32);
});

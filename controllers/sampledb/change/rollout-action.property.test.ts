// A rollout played to its end on random databases: which instances it takes down, and that it ends.
import fc from "fast-check";
import { expect, test } from "vitest";
import { instance } from "../../database/instance.fixture.ts";
import type { Instance, PendingSetting } from "../../database/instance.ts";
import { nextRolloutAction } from "./rollout-action.ts";

const asked = "now";
const shrinking: PendingSetting = { name: "max_connections", from: "200", to: "100" };
const other: PendingSetting = { name: "shared_buffers", from: "1", to: "2" };

const anInstance = fc.record({
  asked: fc.constantFrom(asked, "before"),
  state: fc.constantFrom("serves", "serves", "broken", "behind", "apart"),
  pendingRestart: fc.constantFrom(undefined, undefined, [shrinking], [other]),
});
const databases = fc.array(anInstance, { minLength: 1, maxLength: 6 }).chain((told) =>
  fc.nat(told.length - 1).map((leading) =>
    told.map(({ state, ...rest }, ordinal) => {
      const leads = ordinal === leading;
      const ready = leads || state !== "broken"; // Patroni takes the lead from one that is broken
      const streaming = !leads && (state === "serves" || state === "apart");
      const mayTakeOver = !leads && state === "serves";
      return instance(ordinal, { ...rest, ready, role: leads ? "Primary" : "Replica", streaming, mayTakeOver });
    }),
  ),
);

const fresh = (ordinal: number, role: Instance["role"] = "Replica") =>
  instance(ordinal, { asked, ready: false, role, streaming: false, mayTakeOver: false, uid: `new-${ordinal}` });
const serving = (instances: readonly Instance[]) => instances.filter(({ ready }) => ready);
const counting = (instances: readonly Instance[]) => instances.filter(({ mayTakeOver }) => mayTakeOver);

/** Kubernetes and Patroni at work: an instance comes up, follows, and counts one look later. Without a leader, one is elected. */
function settle(instances: readonly Instance[]): Instance[] {
  const leads = instances.some(({ role }) => role === "Primary");
  const heir = leads ? undefined : (serving(instances)[0] ?? instances[0])?.ordinal;
  return instances.map((one) => {
    const role = one.ordinal === heir ? "Primary" : one.role;
    const comesUp = one.ready || one.asked === asked; // an instance that is broken and outdated stays so
    const streaming = role === "Replica" && comesUp;
    return { ...one, role, ready: comesUp, streaming, mayTakeOver: streaming && one.streaming };
  });
}

function play(begin: readonly Instance[]): { instances: readonly Instance[]; steps: number } {
  let instances = begin;
  for (let steps = 0; steps < 60; steps++) {
    const action = nextRolloutAction({ instances, settled: true, newest: undefined, wanted: begin.length, asked });
    const replaceWith = (target: Instance, next: Instance) => instances.map((one) => (one.podName === target.podName ? next : one));
    switch (action.kind) {
      case "none":
        return { instances, steps };
      case "wait":
        instances = settle(instances);
        continue;
      case "replace": {
        const { instance: target } = action;
        expect(target.asked, "what is as asked is not made anew").not.toBe(asked);
        if (target.ready) {
          expect(serving(instances), "nothing that serves is taken down while another is down").toHaveLength(begin.length);
          expect(counting(instances), "commits have whom to wait for").toHaveLength(begin.length - 1);
          if (begin.length > 1) expect(target.role, "the primary is never deleted while there is a replica").not.toBe("Primary");
        }
        instances = replaceWith(target, fresh(target.ordinal));
        break;
      }
      case "restart":
        expect(serving(instances), "restarts are one at a time").toHaveLength(begin.length);
        expect(counting(instances), "commits have whom to wait for").toHaveLength(begin.length - 1);
        expect(action.instance.pendingRestart, "only what waits for it is restarted").toBeDefined();
        instances = replaceWith(action.instance, { ...action.instance, pendingRestart: undefined });
        break;
      case "switchover": {
        const { from, to } = action;
        expect(from.role).toBe("Primary");
        expect(to, "the heir has everything, and is as asked").toMatchObject({ role: "Replica", ready: true, streaming: true, asked });
        expect(counting(instances), "commits have whom to wait for").toHaveLength(begin.length - 1);
        instances = instances.map((one) => {
          if (one.podName === from.podName) return { ...one, role: "Replica", streaming: true };
          return one.podName === to.podName ? { ...one, role: "Primary", streaming: false, mayTakeOver: false } : one;
        });
      }
    }
    // Half of the time, Kubernetes and Patroni have moved on before the next look.
    if (steps % 2 === 0) instances = settle(instances);
  }
  throw new Error(`it does not end: ${JSON.stringify(instances)}`);
}

test("a rollout ends with every instance as asked, takes down one serving instance at a time, never a primary with replicas", () => {
  fc.assert(
    fc.property(databases, (database) => {
      const { instances } = play(database);
      expect(instances.filter((one) => one.asked !== asked || one.pendingRestart)).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

test("a rollout never takes down the only ready instance of several", () => {
  const lone = databases.filter((database) => database.length > 1);
  fc.assert(
    fc.property(lone, fc.nat(), (database, which) => {
      const only = which % database.length;
      const instances = database.map((one, index) => ({ ...one, ready: index === only }));
      const action = nextRolloutAction({ instances, settled: true, newest: undefined, wanted: database.length, asked });
      if (action.kind === "replace" || action.kind === "restart") expect(action.instance.ordinal).not.toBe(only);
      expect(action.kind).not.toBe("switchover");
    }),
    { numRuns: 2000 },
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InstanceRange } from "../../desired/instances.ts";
import { instanceRange, type RangeInputs } from "./instance-range.ts";

const range = (start: number, count: number): InstanceRange => ({ start, count });
const running: RangeInputs = {
  wanted: 3,
  powerState: "Running",
  current: range(0, 3),
  pods: [0, 1, 2],
  primary: 0,
  lastPrimary: 0,
  givenUp: false,
  initialized: true,
};
const none = { primary: undefined } as const;
const hibernated = { ...running, powerState: "Hibernated" } as const;

describe("the range of a running database", () => {
  test.each<[string, Partial<RangeInputs>, InstanceRange]>([
    [
      "does not shrink while an instance makes the data: it may be any of them",
      { initialized: false, wanted: 1, ...none, lastPrimary: undefined },
      range(0, 3),
    ],
    [
      "has all instances at once when the database is new",
      { initialized: false, current: undefined, pods: [], ...none, lastPrimary: undefined },
      range(0, 3),
    ],
    ["stays as it is when nothing changed", {}, range(0, 3)],
    ["grows with replicas", { wanted: 5 }, range(0, 5)],
    ["shrinks with replicas", { wanted: 1 }, range(0, 1)],
    ["includes a primary beyond replicas until it has handed over", { wanted: 1, primary: 2 }, range(0, 3)],
    ["does not shrink while no instance leads", { wanted: 1, ...none }, range(0, 3)],
    ["grows with replicas while no instance leads", { wanted: 5, ...none }, range(0, 5)],
    [
      "includes the last primary while no instance leads, even if it was scaled away by hand",
      { wanted: 1, current: range(0, 1), pods: [0], ...none, lastPrimary: 1 },
      range(0, 2),
    ],
    ["is the last primary alone after waking", { current: range(1, 0), pods: [], ...none, lastPrimary: 1 }, range(1, 1)],
    ["stays the last primary alone until it leads", { current: range(1, 1), pods: [1], ...none, lastPrimary: 1 }, range(1, 1)],
    [
      "has all instances after waking when the last primary was given up",
      { current: range(1, 1), pods: [1], ...none, lastPrimary: 1, givenUp: true },
      range(0, 3),
    ],
    [
      "has all instances on waking when the last primary was given up in hibernation",
      { current: range(1, 0), pods: [], ...none, lastPrimary: 1, givenUp: true },
      range(0, 3),
    ],
    [
      "has all instances of data that is taken up when the last primary was given up",
      { current: undefined, pods: [], ...none, lastPrimary: 1, givenUp: true },
      range(0, 3),
    ],
    [
      "has all instances once the last primary leads after waking",
      { current: range(1, 1), pods: [1], primary: 1, lastPrimary: 1 },
      range(0, 3),
    ],
    [
      "is the last primary alone after waking, even if it is beyond replicas",
      { wanted: 1, current: range(2, 0), pods: [], ...none, lastPrimary: 2 },
      range(2, 1),
    ],
    ["is the last primary alone for data that is taken up", { current: undefined, pods: [], ...none, lastPrimary: 2 }, range(2, 1)],
    [
      "is the last primary alone for data that is taken up, even if it is beyond replicas",
      { wanted: 2, current: undefined, pods: [], ...none, lastPrimary: 6 },
      range(6, 1),
    ],
    [
      "reaches to a primary beyond replicas that leads data that was taken up",
      { wanted: 2, current: range(6, 1), pods: [6], primary: 6, lastPrimary: 6 },
      range(0, 7),
    ],
    [
      "is the first instance alone for data that is taken up with an unknown last primary",
      { current: undefined, pods: [], ...none, lastPrimary: undefined },
      range(0, 1),
    ],
    [
      "has all instances when a database is woken that was still stopping",
      { current: range(1, 1), pods: [0, 1], primary: 1, lastPrimary: 1 },
      range(0, 3),
    ],
  ])("%s", (_, told, expected) => expect(instanceRange({ ...running, ...told })).toEqual(expected));
});

describe("the range of a database that is to be hibernated", () => {
  test.each<[string, Partial<RangeInputs>, InstanceRange]>([
    ["is the primary alone while replicas stop", {}, range(0, 1)],
    ["is the primary alone while replicas stop, whatever its ordinal", { primary: 2 }, range(2, 1)],
    ["stays the primary alone while a replica is still stopping", { current: range(2, 1), primary: 2, pods: [1, 2] }, range(2, 1)],
    ["is empty once only the primary is left", { current: range(2, 1), primary: 2, pods: [2] }, range(2, 0)],
    ["is empty at once for a single instance", { wanted: 1, current: range(0, 1), pods: [0] }, range(0, 0)],
    ["is the last primary alone while no instance leads", { ...none, lastPrimary: 1 }, range(1, 1)],
    ["is empty when the last primary has no Pod", { ...none, lastPrimary: 1, pods: [0, 2] }, range(1, 0)],
    ["stays empty in hibernation", { ...none, current: range(2, 0), pods: [], lastPrimary: 2 }, range(2, 0)],
    ["is the primary alone when the StatefulSet was deleted and left its Pods", { current: undefined, primary: 1 }, range(1, 1)],
    [
      "is empty for a database that never ran",
      { ...none, current: undefined, pods: [], lastPrimary: undefined, initialized: false },
      range(0, 0),
    ],
  ])("%s", (_, told, expected) => expect(instanceRange({ ...hibernated, ...told })).toEqual(expected));
});

/** A simulated cluster: Pods come and go as the range says, and Patroni elects and switches over. */
interface Cluster {
  current: InstanceRange | undefined;
  pods: Set<number>;
  primary: number | undefined;
  /** The only instance that is sure to have every commit. */
  lastPrimary: number | undefined;
}

function step(cluster: Cluster, wanted: number, powerState: RangeInputs["powerState"]): void {
  const { current, primary, lastPrimary } = cluster;
  const givenUp = false;
  const next = instanceRange({ wanted, powerState, current, pods: [...cluster.pods], primary, lastPrimary, givenUp, initialized: true });
  const within = ({ start, count }: InstanceRange, ordinal: number) => ordinal >= start && ordinal < start + count;
  const stays = (ordinal: number) => within(next, ordinal);
  const goesAlready = current !== undefined && primary !== undefined && !within(current, primary); // it was scaled away by hand
  if (primary !== undefined && !stays(primary) && !goesAlready)
    expect([...cluster.pods], "the primary is taken away last").toEqual([primary]);
  if (primary !== undefined && powerState === "Running") expect(stays(primary), "a primary that serves stays").toBe(true);
  cluster.current = next;
  cluster.pods = new Set([...cluster.pods].filter(stays));
  for (let ordinal = next.start; ordinal < next.start + next.count; ordinal++) cluster.pods.add(ordinal);
  if (primary !== undefined && !cluster.pods.has(primary)) cluster.primary = undefined;
  // The last primary leads; the others follow it and may take over.
  if (cluster.primary === undefined && lastPrimary !== undefined && cluster.pods.has(lastPrimary)) cluster.primary = lastPrimary;
  else if (powerState === "Running" && cluster.primary !== undefined && cluster.primary >= wanted && cluster.pods.has(0))
    cluster.primary = 0;
  cluster.lastPrimary = cluster.primary ?? cluster.lastPrimary;
}

const ordinal = fc.integer({ min: 0, max: 8 });
const start = fc.record({
  current: fc.option(fc.record({ start: ordinal, count: fc.integer({ min: 0, max: 9 }) }), { nil: undefined }),
  pods: fc.uniqueArray(ordinal).map((ordinals) => new Set(ordinals)),
  led: ordinal,
  leads: fc.boolean(),
});
const wish = fc.record({ wanted: fc.integer({ min: 1, max: 9 }), powerState: fc.constantFrom("Running" as const, "Hibernated" as const) });

test("from any start and after any changes of mind, the range ends as wanted, and the primary never goes before the others", () => {
  fc.assert(
    fc.property(
      start,
      fc.array(fc.tuple(wish, fc.integer({ min: 0, max: 4 })), { maxLength: 4 }),
      wish,
      ({ current, pods, led, leads }, wishes, last) => {
        const cluster: Cluster = { current, pods: new Set(pods), primary: leads && pods.has(led) ? led : undefined, lastPrimary: led };
        for (const [{ wanted, powerState }, steps] of wishes) for (let i = 0; i < steps; i++) step(cluster, wanted, powerState);
        for (let i = 0; i < 8; i++) step(cluster, last.wanted, last.powerState);
        const expected = last.powerState === "Running" ? Array.from({ length: last.wanted }, (_, i) => i) : [];
        expect([...cluster.pods].sort()).toEqual(expected);
        expect(cluster.current?.count).toBe(expected.length);
        expect(cluster.primary === undefined).toBe(last.powerState === "Hibernated");
      },
    ),
    { numRuns: 2000 },
  );
});

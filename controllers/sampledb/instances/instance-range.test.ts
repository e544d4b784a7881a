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

describe("running", () => {
  test.each<[string, Partial<RangeInputs>, InstanceRange]>([
    [
      "fewer while the first is being made: it may be any of them",
      { initialized: false, wanted: 1, ...none, lastPrimary: undefined },
      range(0, 3),
    ],
    ["new: all at once", { initialized: false, current: undefined, pods: [], ...none, lastPrimary: undefined }, range(0, 3)],
    ["as it is", {}, range(0, 3)],
    ["more are wanted", { wanted: 5 }, range(0, 5)],
    ["fewer are wanted", { wanted: 1 }, range(0, 1)],
    ["fewer, and the primary is beyond: it stays until it has handed over", { wanted: 1, primary: 2 }, range(0, 3)],
    ["fewer, and nobody leads: nobody is taken away", { wanted: 1, ...none }, range(0, 3)],
    ["more, and nobody leads", { wanted: 5, ...none }, range(0, 5)],
    [
      "nobody leads, and who led last was taken away by hand",
      { wanted: 1, current: range(0, 1), pods: [0], ...none, lastPrimary: 1 },
      range(0, 2),
    ],
    ["woken: the last primary alone", { current: range(1, 0), pods: [], ...none, lastPrimary: 1 }, range(1, 1)],
    ["woken, the last primary is not there yet", { current: range(1, 1), pods: [1], ...none, lastPrimary: 1 }, range(1, 1)],
    [
      "woken, and the last primary is gone for good: the others",
      { current: range(1, 1), pods: [1], ...none, lastPrimary: 1, givenUp: true },
      range(0, 3),
    ],
    ["asleep, and given up before it is woken", { current: range(1, 0), pods: [], ...none, lastPrimary: 1, givenUp: true }, range(0, 3)],
    [
      "taken up, and the last primary is gone for good",
      { current: undefined, pods: [], ...none, lastPrimary: 1, givenUp: true },
      range(0, 3),
    ],
    ["woken, it leads: now the others", { current: range(1, 1), pods: [1], primary: 1, lastPrimary: 1 }, range(0, 3)],
    ["woken with fewer wanted", { wanted: 1, current: range(2, 0), pods: [], ...none, lastPrimary: 2 }, range(2, 1)],
    ["taken up: the last primary alone", { current: undefined, pods: [], ...none, lastPrimary: 2 }, range(2, 1)],
    ["taken up, it was beyond what is wanted", { wanted: 2, current: undefined, pods: [], ...none, lastPrimary: 6 }, range(6, 1)],
    ["taken up, it leads from beyond", { wanted: 2, current: range(6, 1), pods: [6], primary: 6, lastPrimary: 6 }, range(0, 7)],
    ["taken up, and who led is not known", { current: undefined, pods: [], ...none, lastPrimary: undefined }, range(0, 1)],
    ["woken while it was going to sleep", { current: range(1, 1), pods: [0, 1], primary: 1, lastPrimary: 1 }, range(0, 3)],
  ])("%s", (_, told, expected) => expect(instanceRange({ ...running, ...told })).toEqual(expected));
});

describe("hibernation", () => {
  test.each<[string, Partial<RangeInputs>, InstanceRange]>([
    ["replicas first", {}, range(0, 1)],
    ["replicas first, whichever is primary", { primary: 2 }, range(2, 1)],
    ["replicas are still going", { current: range(2, 1), primary: 2, pods: [1, 2] }, range(2, 1)],
    ["then the primary", { current: range(2, 1), primary: 2, pods: [2] }, range(2, 0)],
    ["a single one", { wanted: 1, current: range(0, 1), pods: [0] }, range(0, 0)],
    ["nobody leads: who led last stops last", { ...none, lastPrimary: 1 }, range(1, 1)],
    ["who led last is not there: all stop", { ...none, lastPrimary: 1, pods: [0, 2] }, range(1, 0)],
    ["it is asleep", { ...none, current: range(2, 0), pods: [], lastPrimary: 2 }, range(2, 0)],
    ["its StatefulSet was taken from its Pods: replicas first all the same", { current: undefined, primary: 1 }, range(1, 1)],
    ["it never was", { ...none, current: undefined, pods: [], lastPrimary: undefined, initialized: false }, range(0, 0)],
  ])("%s", (_, told, expected) => expect(instanceRange({ ...hibernated, ...told })).toEqual(expected));
});

/** A cluster that obeys: Pods come and go as the range says, and Patroni elects and switches over. */
interface Cluster {
  current: InstanceRange | undefined;
  pods: Set<number>;
  primary: number | undefined;
  /** The only one that has everything. */
  lastPrimary: number | undefined;
}

function step(cluster: Cluster, wanted: number, powerState: RangeInputs["powerState"]): void {
  const { current, primary, lastPrimary } = cluster;
  const givenUp = false;
  const next = instanceRange({ wanted, powerState, current, pods: [...cluster.pods], primary, lastPrimary, givenUp, initialized: true });
  const within = ({ start, count }: InstanceRange, ordinal: number) => ordinal >= start && ordinal < start + count;
  const stays = (ordinal: number) => within(next, ordinal);
  const goesAlready = current !== undefined && primary !== undefined && !within(current, primary); // somebody else has said so
  if (primary !== undefined && !stays(primary) && !goesAlready)
    expect([...cluster.pods], "the primary is taken away last").toEqual([primary]);
  if (primary !== undefined && powerState === "Running") expect(stays(primary), "a primary that serves stays").toBe(true);
  cluster.current = next;
  cluster.pods = new Set([...cluster.pods].filter(stays));
  for (let ordinal = next.start; ordinal < next.start + next.count; ordinal++) cluster.pods.add(ordinal);
  if (primary !== undefined && !cluster.pods.has(primary)) cluster.primary = undefined;
  // Whoever has everything leads; the others follow it and may be handed the lead.
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

test("whatever it begins with and however often the wish changes, it ends as wanted, and the primary never goes before the others", () => {
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

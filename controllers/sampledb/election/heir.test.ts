import { expect, test } from "vitest";
import { type Candidate, heirOf } from "./heir.ts";

const replica = (ordinal: number, timeline: number, position: number, told: Partial<Candidate> = {}): Candidate => ({
  ...{ podName: `orders-${ordinal}`, ready: true, role: "Replica", timeline, position },
  ...told,
});
const away = { ready: false } as const;

test.each<[string, readonly Candidate[], string | undefined, string | undefined]>([
  ["one history: they elect by themselves", [replica(0, 1, 100), replica(1, 1, 90)], undefined, undefined],
  ["a former primary has more log of an older one", [replica(0, 1, 900), replica(1, 2, 100)], undefined, "orders-1"],
  ["of those with the newest, who has most", [replica(0, 1, 900), replica(1, 2, 100), replica(2, 2, 110)], undefined, "orders-2"],
  ["who does not answer is not asked", [replica(0, 1, 900), replica(1, 2, 100, away)], undefined, undefined],
  ["who does not say how far it is", [replica(0, 1, 900), replica(1, 2, 0, { position: undefined })], undefined, undefined],
  ["whoever is a primary", [replica(0, 1, 900), replica(1, 2, 100, { role: "Primary" })], undefined, undefined],
  ["given up: of the others, who has most", [replica(0, 1, 90), replica(1, 1, 100), replica(2, 1, 110, away)], "orders-2", "orders-1"],
  ["given up, and not counted where it answers", [replica(0, 1, 90), replica(1, 1, 80), replica(2, 2, 110)], "orders-2", "orders-0"],
  ["given up, and a Pod is not made yet", [replica(0, 1, 90)], "orders-2", undefined],
  ["given up, and somebody who may have more is away", [replica(0, 1, 90), replica(1, 1, 100, away)], "orders-2", undefined],
  ["given up, and nobody else is there", [replica(2, 1, 110, away)], "orders-2", undefined],
])("%s", (_, candidates, givenUp, expected) => expect(heirOf(candidates, { wanted: 3, givenUp })).toBe(expected));

import { expect, test } from "vitest";
import { type Candidate, heirOf } from "./heir.ts";

const replica = (ordinal: number, timeline: number, position: number, told: Partial<Candidate> = {}): Candidate => ({
  ...{ podName: `orders-${ordinal}`, ready: true, role: "Replica", timeline, position },
  ...told,
});
const away = { ready: false } as const;

test.each<[string, readonly Candidate[], string | undefined, string | undefined]>([
  ["there is no heir on one timeline: Patroni elects by itself", [replica(0, 1, 100), replica(1, 1, 90)], undefined, undefined],
  [
    "the heir is on the newest timeline, even if a former primary has more log of an older one",
    [replica(0, 1, 900), replica(1, 2, 100)],
    undefined,
    "orders-1",
  ],
  ["the heir is the furthest on the newest timeline", [replica(0, 1, 900), replica(1, 2, 100), replica(2, 2, 110)], undefined, "orders-2"],
  [
    "an instance that does not answer is no heir, and parts no timelines",
    [replica(0, 1, 900), replica(1, 2, 100, away)],
    undefined,
    undefined,
  ],
  [
    "an instance without a position is no heir, and parts no timelines",
    [replica(0, 1, 900), replica(1, 2, 0, { position: undefined })],
    undefined,
    undefined,
  ],
  ["a primary is no heir, and parts no timelines", [replica(0, 1, 900), replica(1, 2, 100, { role: "Primary" })], undefined, undefined],
  [
    "with an instance given up, the heir is the furthest of the others",
    [replica(0, 1, 90), replica(1, 1, 100), replica(2, 1, 110, away)],
    "orders-2",
    "orders-1",
  ],
  [
    "an instance that was given up is no heir, even if it answers and is furthest",
    [replica(0, 1, 90), replica(1, 1, 80), replica(2, 2, 110)],
    "orders-2",
    "orders-0",
  ],
  ["with an instance given up, there is no heir while a Pod is missing", [replica(0, 1, 90)], "orders-2", undefined],
  [
    "with an instance given up, there is no heir while another that may have more does not answer",
    [replica(0, 1, 90), replica(1, 1, 100, away)],
    "orders-2",
    undefined,
  ],
  ["with an instance given up, there is no heir when it is the only one", [replica(2, 1, 110, away)], "orders-2", undefined],
])("%s", (_, candidates, givenUp, expected) => expect(heirOf(candidates, { wanted: 3, givenUp })).toBe(expected));

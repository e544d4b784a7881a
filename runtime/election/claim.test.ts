// When the lease may be taken, given what was seen of it and when.
import { expect, test } from "vitest";
import { type Claim, freeFrom, observe } from "./claim.ts";
import type { LeaseSpec } from "./lease.ts";

const usual = 15_000;
const spec = (renewTime: string, changes: LeaseSpec = {}): LeaseSpec => ({
  holderIdentity: "other",
  leaseDurationSeconds: 15,
  renewTime,
  ...changes,
});
const [first, second] = [spec("2026-01-01T00:00:00.000000Z"), spec("2026-01-01T00:00:02.000000Z")];

type Looks = readonly (readonly [at: number, found: LeaseSpec | undefined])[];
const now = Number.NEGATIVE_INFINITY;

test.each([
  ["no lease, never seen one", [[5, undefined]], now],
  ["a lease without a spec, never seen one", [[5, {}]], now],
  ["seen once", [[5, first]], 15_005],
  [
    "seen again unchanged: only the first time counts",
    [
      [5, first],
      [9000, { ...first }],
    ],
    15_005,
  ],
  [
    "renewed: counts from when we saw it",
    [
      [5, first],
      [9000, second],
    ],
    24_000,
  ],
  ["written with a clock that is years behind", [[5, spec("2001-01-01T00:00:00.000000Z")]], 15_005],
  ["written with a clock that is years ahead", [[5, spec("2099-01-01T00:00:00.000000Z")]], 15_005],
  [
    "a renewal that goes back in time is one",
    [
      [5, second],
      [7, first],
    ],
    15_007,
  ],
  ["a holder with a longer lease than ours", [[5, spec("x", { leaseDurationSeconds: 60 })]], 60_005],
  ["a holder that does not say for how long", [[5, { holderIdentity: "other" }]], 15_005],
  ["a duration that makes no sense", [[5, spec("x", { leaseDurationSeconds: 0 })]], 15_005],
  [
    "released",
    [
      [5, first],
      [7, spec("x", { holderIdentity: "", leaseDurationSeconds: 1 })],
    ],
    now,
  ],
  [
    "taken by a third one",
    [
      [5, first],
      [7, spec("x", { holderIdentity: "third" })],
    ],
    15_007,
  ],
  [
    "deleted by hand: its holder may be writing",
    [
      [5, first],
      [7, undefined],
    ],
    15_005,
  ],
  [
    "emptied by hand: its holder may be writing",
    [
      [5, first],
      [7, {}],
    ],
    15_005,
  ],
  [
    "deleted and recreated by its holder",
    [
      [5, first],
      [7, undefined],
      [9, second],
    ],
    15_009,
  ],
  [
    "our own, after the answer was lost",
    [
      [5, first],
      [7, spec("x", { holderIdentity: "me" })],
    ],
    now,
  ],
] satisfies [string, Looks, number][])("when the lease is free: %s", (_, looks, expected) => {
  const claim = looks.reduce<Claim | undefined>((before, [at, found]) => observe(before, found, at, usual), undefined);
  expect(freeFrom(claim, "me")).toBe(expected);
});

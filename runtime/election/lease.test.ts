// The lease that is written, given the one that was found.
import { expect, test } from "vitest";
import { type LeaseSpec, newLease, releasedSpec, renewedSpec, takenSpec } from "./lease.ts";

const time = new Date("2026-03-04T05:06:07.089Z");
const written = "2026-03-04T05:06:07.089000Z";
const holding = { identity: "me", duration: 15_000, time };
const mine = { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: written };
const earlier = { acquireTime: "2026-01-01T00:00:00.000000Z", renewTime: "2026-01-01T00:00:00.000000Z" };
const others = { holderIdentity: "other", leaseDurationSeconds: 15, leaseTransitions: 4, ...earlier };

test.each([
  ["the first lease", undefined, { ...mine, acquireTime: written, leaseTransitions: 0 }],
  ["a lease without a spec", {}, { ...mine, acquireTime: written, leaseTransitions: 1 }],
  ["another's", others, { ...mine, acquireTime: written, leaseTransitions: 5 }],
  ["a released one", { ...others, holderIdentity: "" }, { ...mine, acquireTime: written, leaseTransitions: 5 }],
  ["our own", { ...others, holderIdentity: "me" }, { ...mine, acquireTime: earlier.acquireTime, leaseTransitions: 4 }],
  [
    "one with fields of a newer API",
    { strategy: "Oldest" } as LeaseSpec,
    { ...mine, acquireTime: written, leaseTransitions: 1, strategy: "Oldest" },
  ],
] satisfies [string, LeaseSpec | undefined, object][])("taking %s", (_, found, expected) => {
  expect(takenSpec(found, holding)).toEqual(expected);
});

test("a renewal changes only the time of the lease", () => {
  expect(renewedSpec({ ...others, holderIdentity: "me" }, holding)).toEqual({ ...others, holderIdentity: "me", renewTime: written });
});

test("a lease duration is rounded up", () => {
  expect(renewedSpec({}, { ...holding, duration: 2500 }).leaseDurationSeconds).toBe(3);
});

test("a released lease is as client-go writes it", () => {
  const released = { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 4, acquireTime: written, renewTime: written };
  expect(releasedSpec(others, time)).toEqual(released);
});

test("a recreated lease has the labels and annotations of the one before, and no fields of the API server", () => {
  const notes = { labels: { a: "b" }, annotations: { c: "d" } };
  const metadata = { name: "l", namespace: "n", uid: "u", resourceVersion: "7", ...notes };
  const before = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata };
  expect(newLease({ namespace: "n", name: "l" }, mine, before).metadata).toEqual({ name: "l", namespace: "n", ...notes });
});

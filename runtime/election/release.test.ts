// The release of a lease.
import { beforeEach, expect, test } from "vitest";
import { type FakeClock, settle } from "../fake-clock.fixture.ts";
import type { LeaseInMemory } from "./lease-in-memory.fixture.ts";
import { Rehearsal } from "./rehearsal.fixture.ts";
import { defaultTiming } from "./timing.ts";

let rehearsal: Rehearsal;
let clock: FakeClock;
let server: LeaseInMemory;

beforeEach(() => {
  rehearsal = new Rehearsal();
  ({ clock, server } = rehearsal);
});

test("a released lease is taken within a retry period, an abandoned one as soon as it has expired", async () => {
  const a = rehearsal.start("a");
  await clock.advance(500);
  const b = rehearsal.start("b");
  await clock.advance(1000);
  await a.release();
  await clock.advance(defaultTiming.retryPeriod);
  expect([a.mayWrite(), b.mayWrite()]).toEqual([false, true]);
  server.tamper((lease) => ({ ...lease, spec: { holderIdentity: "c", leaseDurationSeconds: 15 } })); // never renewed
  const d = rehearsal.start("d");
  await clock.advance(14_999);
  expect(d.mayWrite()).toBe(false);
  await clock.advance(1);
  expect(d.mayWrite()).toBe(true);
});

test("a release ends the elector, even when the API server is unreachable", async () => {
  const a = rehearsal.start("a");
  await settle();
  server.before = rehearsal.blackHole;
  const released = a.release();
  expect(a.mayWrite()).toBe(false);
  await clock.advance(5000);
  await released;
  expect(a.told).toEqual({ leading: [false, true, false], failures: ["no answer"], lost: [] });
  expect(clock.armed).toBe(0);
});

test("a release leaves a lease alone that another candidate has taken unnoticed", async () => {
  const a = rehearsal.start("a");
  await settle();
  server.tamper((lease) => ({ ...lease, spec: { holderIdentity: "b", leaseDurationSeconds: 15 } }));
  await a.release();
  expect(server.lease?.spec).toEqual({ holderIdentity: "b", leaseDurationSeconds: 15 });
  expect(clock.armed).toBe(0);
});

test("a released leadership is not reported as lost, even if a renewal under way finds another holder", async () => {
  const a = rehearsal.start("a");
  await settle();
  server.tamper((lease) => ({ ...lease, spec: { holderIdentity: "b", leaseDurationSeconds: 15 } }));
  const answer = Promise.withResolvers<void>();
  server.after = () => answer.promise;
  await clock.advance(2000);
  const released = a.release();
  answer.resolve();
  await released;
  expect(a.told).toEqual({ leading: [false, true, false], failures: [], lost: [] });
});

// The behaviour of an elector when answers are late, missing or refusals.
import { beforeEach, expect, test } from "vitest";
import { FakeClock, settle } from "../fake-clock.fixture.ts";
import { Elector } from "./elector.ts";
import { type LeaseInMemory, refusal } from "./lease-in-memory.fixture.ts";
import { key, Rehearsal } from "./rehearsal.fixture.ts";

let rehearsal: Rehearsal;
let clock: FakeClock;
let server: LeaseInMemory;

beforeEach(() => {
  rehearsal = new Rehearsal();
  ({ clock, server } = rehearsal);
});

test("a leader renews, and may write all the time", async () => {
  const a = rehearsal.start("a");
  await settle();
  for (let passed = 0; passed < 60_000; passed += 500) {
    await clock.advance(500);
    expect(a.mayWrite()).toBe(true);
  }
  expect(a.told).toEqual({ leading: [false, true], failures: [], lost: [] });
});

test("the deadline counts from the request of the last renewal, not from its answer", async () => {
  const a = rehearsal.start("a");
  await clock.advance(1000);
  server.after = () => rehearsal.wait(1500);
  await clock.advance(1000); // the renewal is asked for at 2000, and its answer is there at 3500
  await clock.advance(1500);
  server.before = rehearsal.blackHole;
  await clock.advance(8499);
  expect([clock.now(), a.mayWrite()]).toEqual([11_999, true]);
  await clock.advance(1);
  expect(a.mayWrite()).toBe(false);
});

test("at the deadline a leader may not write even if no timer has run, and a late answer does not change that", async () => {
  const late = new FakeClock(); // time passes here, and no timer runs: the process stands still
  const answer = Promise.withResolvers<void>();
  const a = rehearsal.start("a", { clock: { now: () => clock.now() + late.now(), schedule: (ms, call) => clock.schedule(ms, call) } });
  await settle();
  server.after = () => answer.promise;
  await clock.advance(2000);
  expect(a.mayWrite()).toBe(true);
  await late.advance(8000);
  expect([a.mayWrite(), a.isLeader]).toEqual([false, true]);
  answer.resolve();
  await settle();
  expect(a.mayWrite()).toBe(false);
  expect(a.told.lost).toEqual(["the lease ns/operator was not renewed within 10 s: no answer came, or this process stood still"]);
});

test("a call that hangs leaves time for others: a recovery before the deadline keeps the leader", async () => {
  const a = rehearsal.start("a");
  await clock.advance(1999);
  server.before = rehearsal.blackHole;
  await clock.advance(2000);
  server.before = async () => {}; // a new connection works, the call on the old one still hangs
  await clock.advance(30_000);
  expect([a.mayWrite(), a.told.failures]).toEqual([true, ["no answer"]]);
});

test("at the deadline the leadership is lost once, with the last failure as its reason, and no timer is left", async () => {
  const a = rehearsal.start("a");
  await settle();
  server.before = () => Promise.reject(new Error("connection refused"));
  await clock.advance(60_000);
  expect(a.told.leading).toEqual([false, true, false]);
  expect(a.told.failures).toEqual(["connection refused"]);
  expect(a.told.lost).toEqual(["the lease ns/operator was not renewed within 10 s: connection refused"]);
  expect(clock.armed).toBe(0);
});

test("another holder in the lease ends the leadership at once", async () => {
  const a = rehearsal.start("a");
  await settle();
  server.tamper((lease) => ({ ...lease, spec: { holderIdentity: "b", leaseDurationSeconds: 15 } }));
  await clock.advance(2000);
  expect(a.mayWrite()).toBe(false);
  expect(a.told.lost).toEqual(["the lease ns/operator is held by b now"]);
  await a.release();
  expect(server.lease?.spec?.holderIdentity).toBe("b");
  expect(clock.armed).toBe(0);
});

test.each([
  ["deleted", undefined],
  ["emptied", {}],
])("a lease that is %s by hand stays with its leader, even when others look first", async (_, spec) => {
  const a = rehearsal.start("a");
  await clock.advance(100);
  const b = rehearsal.start("b");
  await clock.advance(3000);
  server.tamper((lease) => spec && { ...lease, spec });
  server.before = async (verb) => void (verb === "get" || (await rehearsal.wait(1900))); // the leader's renewal is slow
  await clock.advance(20_000);
  expect([a.mayWrite(), b.isLeader, server.lease?.spec?.holderIdentity]).toEqual([true, false, "a"]);
  expect(server.lease?.spec?.leaseTransitions).toBe(0);
});

test("edits of others on the lease stay, and do not cost the leadership", async () => {
  const a = rehearsal.start("a");
  await settle();
  server.tamper((lease) => ({ ...lease, metadata: { ...lease.metadata, annotations: { note: "kept" } } }));
  await clock.advance(10_000);
  expect([a.mayWrite(), server.lease?.metadata.annotations]).toEqual([true, { note: "kept" }]);
});

test("a lease that was taken although the answer was lost is found at the next look", async () => {
  server.after = (verb) => (verb === "create" ? Promise.reject(new Error("reset")) : Promise.resolve());
  const a = rehearsal.start("a");
  await settle();
  expect(a.isLeader).toBe(false);
  await clock.advance(2000);
  expect([a.mayWrite(), server.lease?.spec?.leaseTransitions]).toEqual([true, 0]);
});

test("a missing permission is named in the error", async () => {
  server.before = () => Promise.reject(refusal(403, "Forbidden"));
  const a = rehearsal.start("a");
  await clock.advance(10_000);
  expect(a.told.failures).toEqual([expect.stringContaining("get, create and update on leases.coordination.k8s.io in the namespace ns")]);
  server.before = async () => {};
  await clock.advance(2000);
  expect(a.mayWrite()).toBe(true);
});

test.each([
  { leaseDuration: 10_000, renewDeadline: 10_000, retryPeriod: 2000 },
  { leaseDuration: 15_000, renewDeadline: 4000, retryPeriod: 2000 },
  { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 0 },
])("an elector refuses the timing %o", (timing) => {
  expect(() => new Elector({ client: server.client, lease: key, timing })).toThrow(RangeError);
});

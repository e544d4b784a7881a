import { describe, expect, test } from "vitest";
import { instance, primary } from "../../database/instance.fixture.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { Blocker } from "../../telling/blockers.ts";
import { situation } from "../observations.fixture.ts";
import { blockersOf } from "./blockers.ts";

const wontGrow: Blocker = { reason: "VolumeCannotGrow", message: "claim data-orders-0 can't grow", remedy: "another class" };
const problem = (reason: string, message = "why") => ({ ready: false, problem: { reason, message } });

test("a healthy database has no blockers", () => expect(blockersOf(situation())).toEqual([]));

test("blockers that steps found come first, then one for each instance that does not start", () => {
  const instances = [primary(0), instance(1, problem("Unschedulable")), instance(2, problem("CrashLoopBackOff"))];
  expect(blockersOf(situation({ instances, findings: { blockers: [wontGrow] } })).map(({ reason }) => reason)).toEqual([
    "VolumeCannotGrow",
    "Unschedulable",
    "CrashLoopBackOff",
  ]);
});

test.each([
  ["Unschedulable", /make room/],
  ["ErrImagePull", /spec\.image/],
  ["ImagePullBackOff", /imagePullSecrets/],
  ["CrashLoopBackOff", /logs/],
  ["SomethingNew", /kubectl describe/],
])("the blocker %s has a remedy", (reason, remedy) => {
  expect(blockersOf(situation({ instances: [instance(0, problem(reason))] }))).toMatchObject([
    { reason, message: "orders-0 does not start: why", remedy: expect.stringMatching(remedy) },
  ]);
});

test("while there is no data, the remedy for an unschedulable instance includes making the SampleDB anew", () => {
  const told = { instances: [instance(0, problem("Unschedulable"))], observed: { initialized: false } };
  expect(blockersOf(situation(told))[0]?.remedy).toMatch(/storageClassName or the size is wrong, delete the SampleDB and make it anew/);
});

test("the blocker of an instance on a lost node names the node, and what to do if it stays lost", () => {
  const lost = instance(1, problem("NodeLost", "its node node-1 does not answer"));
  expect(blockersOf(situation({ instances: [primary(0), lost] }))).toMatchObject([
    {
      reason: "NodeLost",
      message: "orders-1 is lost: its node node-1 does not answer",
      remedy: expect.stringMatching(/kubectl delete node.*sampledb\.io\/replace-instance=orders-1$/),
    },
  ]);
});

describe("the sinceTime of a blocker", () => {
  const status = { blockers: [{ ...wontGrow, sinceTime: "2020-01-01T00:00:00Z" }] };
  const told = (blocker: Blocker) =>
    blockersOf(situation({ db: { ...sampleDB(), status }, findings: { blockers: [blocker] } }))[0]?.sinceTime;

  test.each<[string, Blocker, string]>([
    ["stays while reason and message stay", wontGrow, "2020-01-01T00:00:00Z"],
    ["stays when only the remedy changes", { ...wontGrow, remedy: "other" }, "2020-01-01T00:00:00Z"],
    ["is now when the message changes", { ...wontGrow, message: "other" }, "2026-05-04T03:02:01Z"],
    ["is now when the reason changes", { ...wontGrow, reason: "PodRefused" }, "2026-05-04T03:02:01Z"],
  ])("%s", (_, blocker, since) => expect(told(blocker)).toBe(since));

  test("stays for a message that is cut off for its length", () => {
    const long = { ...wontGrow, message: "m".repeat(5000) };
    const [first] = blockersOf(situation({ findings: { blockers: [long] } }));
    expect(first?.message).toHaveLength(4096);
    const db = { ...sampleDB(), status: { blockers: [{ ...wontGrow, message: first?.message ?? "", sinceTime: "2020-01-01T00:00:00Z" }] } };
    expect(blockersOf(situation({ db, findings: { blockers: [long] } }))[0]?.sinceTime).toBe("2020-01-01T00:00:00Z");
  });
});

test("there are at most 16 blockers, as many as the status has room for", () => {
  const blockers = Array.from({ length: 40 }, (_, index) => ({ ...wontGrow, message: `${index}` }));
  expect(blockersOf(situation({ findings: { blockers } }))).toHaveLength(16);
});

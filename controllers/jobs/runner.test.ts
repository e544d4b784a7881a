// Given a Job, its Pod and the time: this outcome, and whether the Job is made anew.
import { describe, expect, test } from "vitest";
import type { Job, Pod } from "../kinds/kubernetes.ts";
import { type JobOutcome, outcomeOf } from "./outcome.ts";
import { isToBeMadeAnew, type JobRequest } from "./runner.ts";

const now = new Date("2026-05-04T03:10:00Z");
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();

function job(condition?: { type: string; reason?: string; message?: string; lastTransitionTime?: string }, inputs = "same"): Job {
  const conditions = condition ? [{ status: "True", ...condition }] : [];
  const metadata = { name: "orders-init", annotations: { inputs } };
  return { apiVersion: "batch/v1", kind: "Job", metadata, status: { conditions } } as unknown as Job;
}

function pod(phase: string, more: { deleted?: number; message?: string; waiting?: string; exitCode?: number; reason?: string } = {}): Pod {
  const terminated = more.exitCode === undefined ? undefined : { exitCode: more.exitCode, message: more.message, reason: more.reason };
  const waiting = more.waiting && { reason: more.waiting, message: more.message };
  const metadata = { name: "orders-init-x", ...(more.deleted === undefined ? {} : { deletionTimestamp: ago(more.deleted) }) };
  const containerStatuses = [{ name: "init", state: { ...(terminated && { terminated }), ...(waiting && { waiting }) } }];
  return { apiVersion: "v1", kind: "Pod", metadata, status: { phase, containerStatuses } } as unknown as Pod;
}

describe("the outcome of a Job", () => {
  const failed = { type: "Failed", lastTransitionTime: ago(5) };
  test.each<[string, Job, Pod | undefined, JobOutcome]>([
    ["without a Pod: it runs", job(), undefined, { kind: "running" }],
    ["with a Pod at work: it runs", job(), pod("Running"), { kind: "running" }],
    [
      "whose Pod has failed: it runs, and says why",
      job(),
      pod("Failed", { exitCode: 1, message: "no route\n" }),
      { kind: "running", lastFailure: "no route" },
    ],
    [
      "whose image can't be had: it is stuck",
      job(),
      pod("Pending", { waiting: "ErrImagePull", message: "no" }),
      { kind: "stuck", problem: { reason: "ErrImagePull", message: "no" } },
    ],
    ["whose Pod is being made: it runs", job(), pod("Pending", { waiting: "ContainerCreating" }), { kind: "running" }],
    ["whose Pod is told to end: it runs", job(), pod("Running", { deleted: 20 }), { kind: "running" }],
    ["whose Pod does not end: it is stranded", job(), pod("Running", { deleted: 40 }), { kind: "stranded", podName: "orders-init-x" }],
    [
      "that is complete",
      job({ type: "Complete" }),
      pod("Succeeded", { exitCode: 0, message: "made" }),
      { kind: "succeeded", message: "made" },
    ],
    ["that is complete, with its Pod gone", job({ type: "Complete" }), undefined, { kind: "succeeded", message: undefined }],
    [
      "by the rule for the exit code: it is refused",
      job({ ...failed, reason: "PodFailurePolicy" }),
      pod("Failed", { exitCode: 3, message: "syntax" }),
      { kind: "refused", message: "syntax" },
    ],
    [
      "out of tries: it has failed",
      job({ ...failed, reason: "BackoffLimitExceeded", message: "limit" }),
      undefined,
      { kind: "failed", message: "limit", at: new Date(ago(5)) },
    ],
    [
      "out of memory: it says so",
      job(),
      pod("Failed", { exitCode: 137, reason: "OOMKilled" }),
      { kind: "running", lastFailure: "it needs more memory than its limit" },
    ],
  ])("%s", (_, candidate, its, outcome) => expect(outcomeOf(candidate, its, now)).toEqual(outcome));
});

describe("a Job is made anew", () => {
  const request = (more: Partial<JobRequest>) => ({ inputs: "same", inputsAnnotation: "inputs", repeatable: true, ...more }) as JobRequest;
  const running: JobOutcome = { kind: "running" };
  const stranded: JobOutcome = { kind: "stranded", podName: "p" };
  const succeeded: JobOutcome = { kind: "succeeded", message: undefined };
  const refused: JobOutcome = { kind: "refused", message: "" };
  const failed: JobOutcome = { kind: "failed", message: "", at: new Date(ago(100)) };
  const other = job(undefined, "other");

  test.each<[string, Partial<JobRequest>, Job, JobOutcome, boolean]>([
    ["not while it runs", {}, job(), running, false],
    ["when its inputs are others", {}, other, running, true],
    ["when it was refused and its inputs are others", {}, other, refused, true],
    ["when it has succeeded and its inputs are others", {}, other, succeeded, true],
    ["not when its success is final", { successIsFinal: true }, other, succeeded, false],
    ["when it is stranded", {}, job(), stranded, true],
    ["not when it was refused", { retrySeconds: 0 }, job(), refused, false],
    ["when it has failed and is to be tried again at once", { retrySeconds: 0 }, job(), failed, true],
    ["not before its time to be tried again", { retrySeconds: 300 }, job(), failed, false],
    ["not when it has failed and nobody wants it tried again", {}, job(), failed, false],
    ["when it takes too long", { longestSeconds: 50 }, job(), running, true],
    ["not before that", { longestSeconds: 70 }, job(), running, false],
    ["not when its work must not be done twice and it is stranded", { repeatable: false }, job(), stranded, false],
    ["not when its work must not be done twice and it takes long", { repeatable: false, longestSeconds: 1 }, job(), running, false],
    ["not when its work must not be done twice, has begun, and its inputs are others", { repeatable: false }, other, running, false],
    ["not when its work must not be done twice, may go on, and its inputs are others", { repeatable: false }, other, stranded, false],
    ["not when its work must not be done twice and it has failed", { repeatable: false, retrySeconds: 0 }, job(), failed, false],
    ["when its work must not be done twice, has ended, and its inputs are others", { repeatable: false }, other, failed, true],
  ])("%s", (_, more, candidate, outcome, expected) => {
    expect(isToBeMadeAnew(request(more), candidate, outcome, { now, seconds: 60 })).toBe(expected);
  });
});

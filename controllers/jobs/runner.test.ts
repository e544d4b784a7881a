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

/** A Pod with an init container in this state: the other one waits for its end. */
function beginning(phase: string, state: object): Pod {
  const waits = pod(phase, { waiting: "PodInitializing" });
  return { ...waits, status: { ...waits.status, initContainerStatuses: [{ name: "first", state }] } } as unknown as Pod;
}

describe("the outcome of a Job", () => {
  const failed = { type: "Failed", lastTransitionTime: ago(5) };
  test.each<[string, Job, Pod | undefined, JobOutcome]>([
    ["of a Job without a Pod is running", job(), undefined, { kind: "running" }],
    ["of a Job with a running Pod is running", job(), pod("Running"), { kind: "running" }],
    [
      "of a Job whose Pod failed is running, with the Pod's message",
      job(),
      pod("Failed", { exitCode: 1, message: "no route\n" }),
      { kind: "running", lastFailure: "no route" },
    ],
    [
      "of a Job whose image can't be pulled is stuck",
      job(),
      pod("Pending", { waiting: "ErrImagePull", message: "no" }),
      { kind: "stuck", problem: { reason: "ErrImagePull", message: "no" } },
    ],
    ["of a Job whose Pod is being made is running", job(), pod("Pending", { waiting: "ContainerCreating" }), { kind: "running" }],
    ["of a Job whose Pod was deleted a moment ago is running", job(), pod("Running", { deleted: 20 }), { kind: "running" }],
    [
      "of a Job whose deleted Pod does not end is stranded",
      job(),
      pod("Running", { deleted: 40 }),
      { kind: "stranded", podName: "orders-init-x" },
    ],
    [
      "of a complete Job is succeeded, with its message",
      job({ type: "Complete" }),
      pod("Succeeded", { exitCode: 0, message: "made" }),
      { kind: "succeeded", message: "made" },
    ],
    ["of a complete Job whose Pod is gone is succeeded", job({ type: "Complete" }), undefined, { kind: "succeeded", message: undefined }],
    [
      "of a Job that failed by the rule for the exit code is refused",
      job({ ...failed, reason: "PodFailurePolicy" }),
      pod("Failed", { exitCode: 3, message: "syntax" }),
      { kind: "refused", message: "syntax" },
    ],
    [
      "of a Job that ran out of tries is failed",
      job({ ...failed, reason: "BackoffLimitExceeded", message: "limit" }),
      undefined,
      { kind: "failed", message: "limit", at: new Date(ago(5)) },
    ],
    [
      "of a Job whose Pod ran out of memory says so",
      job(),
      pod("Failed", { exitCode: 137, reason: "OOMKilled" }),
      { kind: "running", lastFailure: "it needs more memory than its limit" },
    ],
    ["of a Job whose init container runs is running", job(), beginning("Pending", { running: {} }), { kind: "running" }],
    [
      "of a Job whose init container does not start is stuck",
      job(),
      beginning("Pending", { waiting: { reason: "ErrImagePull", message: "no" } }),
      { kind: "stuck", problem: { reason: "ErrImagePull", message: "no" } },
    ],
    [
      "of a Job whose init container failed has that one's message",
      job({ ...failed, reason: "BackoffLimitExceeded", message: "limit" }),
      beginning("Failed", { terminated: { exitCode: 1, message: "no such backup" } }),
      { kind: "failed", message: "no such backup", at: new Date(ago(5)) },
    ],
    [
      "of a Job whose Pod was lost after its init container has nothing to tell",
      job({ ...failed, message: "limit" }),
      beginning("Failed", { terminated: { exitCode: 0, message: "recovered" } }),
      { kind: "failed", message: "limit", at: new Date(ago(5)) },
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
    ["not while it runs, with the same inputs", {}, job(), running, false],
    ["when it runs with other inputs", {}, other, running, true],
    ["when it was refused with other inputs", {}, other, refused, true],
    ["when it succeeded with other inputs", {}, other, succeeded, true],
    ["not when it succeeded with other inputs and success is final", { successIsFinal: true }, other, succeeded, false],
    ["when it is stranded", {}, job(), stranded, true],
    ["not when it was refused with the same inputs", { retrySeconds: 0 }, job(), refused, false],
    ["when it failed and retrySeconds is 0", { retrySeconds: 0 }, job(), failed, true],
    ["not when it failed less than retrySeconds ago", { retrySeconds: 300 }, job(), failed, false],
    ["not when it failed and there is no retrySeconds", {}, job(), failed, false],
    ["when it runs for more than longestSeconds", { longestSeconds: 50 }, job(), running, true],
    ["not when it runs for less than longestSeconds", { longestSeconds: 70 }, job(), running, false],
    ["not when it is stranded and not repeatable", { repeatable: false }, job(), stranded, false],
    [
      "not when it runs for more than longestSeconds and is not repeatable",
      { repeatable: false, longestSeconds: 1 },
      job(),
      running,
      false,
    ],
    ["not when it runs with other inputs and is not repeatable", { repeatable: false }, other, running, false],
    ["not when it is stranded with other inputs and is not repeatable", { repeatable: false }, other, stranded, false],
    ["not when it failed and is not repeatable", { repeatable: false, retrySeconds: 0 }, job(), failed, false],
    ["when it is not repeatable, but ended with other inputs", { repeatable: false }, other, failed, true],
  ])("%s", (_, more, candidate, outcome, expected) => {
    expect(isToBeMadeAnew(request(more), candidate, outcome, { now, seconds: 60 })).toBe(expected);
  });
});

// When a key runs again, what is logged and what is counted, for each result of a reconcile.
import { expect, test } from "vitest";
import { Conflict, TryLater, WriteRefused } from "../kube/errors.ts";
import { createLog } from "../observability/log.ts";
import { again, done, type Outcome, retry, retryWithin } from "../queue/queue.ts";
import { GivenUp, judge, ReconcileTimedOut } from "./judgement.ts";
import { after, awaitChange, failed, type Result, TerminalError, terminal } from "./result.ts";
import { StepError } from "./steps.ts";

const call = { method: "PATCH", path: "/" };
const conflict = new Conflict(call, 409, {});
const busy = (seconds: number) => new TryLater(call, 429, {}, seconds * 1000);
const inStep = (error: Error) => new StepError("step", error);
const plain = new Error("plain");

test.each<[string, Result, Outcome, string, string[]]>([
  ["a converged object", awaitChange, done, "success", []],
  ["another look after some seconds", after(3), again(3000), "requeue_after", []],
  ["an error", failed(plain), retry, "error", ["error"]],
  ["two errors", failed(plain, inStep(plain)), retry, "error", ["error", "error"]],
  ["an error beside a part that looks again", { ...failed(plain), seconds: 30 }, retryWithin(30_000), "error", ["error"]],
  ["a failure without errors", failed(), retry, "error", []],
  ["a mistake in the code", failed(new TypeError("x is undefined")), retry, "panic", ["error"]],
  ["a mistake in a step", failed(plain, inStep(new ReferenceError("x"))), retry, "panic", ["error", "error"]],
  ["a mistake among many", failed(new AggregateError([plain, new RangeError("x")])), retry, "panic", ["error"]],
  ["a timeout", failed(new ReconcileTimedOut("late")), retry, "timeout", ["error"]],
  ["a terminal error", terminal(new TerminalError("never")), done, "terminal_error", ["error"]],
  ["a terminal error in a part", { kind: "terminal", error: plain, seconds: 3 }, again(3000), "terminal_error", ["error"]],
  ["a conflict", failed(conflict), retry, "requeue", ["debug"]],
  ["conflicts in steps", failed(inStep(conflict), inStep(conflict)), retry, "requeue", ["debug", "debug"]],
  ["a conflict and an error", failed(conflict, plain), retry, "error", ["debug", "error"]],
  ["a busy API server", failed(busy(2)), again(2000), "requeue_after", ["info"]],
  ["a busy API server, in steps", failed(inStep(busy(2)), inStep(busy(7))), again(7000), "requeue_after", ["info", "info"]],
  ["a busy API server and a conflict", failed(busy(2), conflict), again(2000), "error", ["info", "debug"]],
  ["a busy API server and an error", failed(plain, busy(2)), again(2000), "error", ["error", "info"]],
  ["an API server that can't answer now", failed(new TryLater(call, 503, {}, 1000)), again(1000), "error", ["warn"]],
  ["a refused write", failed(new WriteRefused("no")), done, "error", []],
  ["a refused write in a step", failed(plain, inStep(new WriteRefused("no"))), done, "error", []],
  ["a controller that ended", failed(new GivenUp("end")), done, "error", []],
])("judge: %s", (_, result, outcome, ending, levels) => {
  const lines: string[] = [];
  const log = createLog({ level: "debug", pretty: false, destination: { write: (line) => void lines.push(line) } });
  expect(judge(result, 1, log)).toMatchObject({ outcome, ending });
  expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(levels);
});

test.each([
  ["a busy API server", failed(busy(2)), 2000],
  ["an API server that is busy for very long", failed(inStep(busy(3600))), 30_000],
  ["an error", failed(plain), undefined],
  ["another look after some seconds", after(5), undefined],
])("hold after %s", (_, result, hold) => {
  const log = createLog({ level: "error", pretty: false, destination: { write: () => {} } });
  expect(judge(result, 1, log).hold).toBe(hold);
});

// Given a Job, its Pod and the time: how the run stands.
import { expect, test } from "vitest";
import type { Job, Pod } from "../kinds/kubernetes.ts";
import { Patience } from "../patience.ts";
import { BackgroundQuestions } from "../repository/background-questions.ts";
import { phases, type RunProgress } from "../repository/run-progress.ts";
import { followRun, type RunDependencies, type RunStanding } from "./run.ts";

const database = { namespace: "shop", name: "orders", uid: "uid" };
const made = Date.parse("2026-05-04T12:00:00Z");

function stage(answer?: RunProgress, isKnown = true) {
  let time = made;
  const now = () => new Date(time);
  const progress = new BackgroundQuestions<RunProgress>(now);
  const progressQuestion = () => (answer ? async () => answer : undefined);
  const deps = { patience: new Patience(now), progress, progressQuestion, now } as unknown as RunDependencies;
  return {
    follow: (pod: Pod, of: object = {}): RunStanding => followRun(deps, { job: job(of), pod }, isKnown ? database : undefined),
    asked: () => progress.settled("job"),
    pass: (seconds: number) => {
      time += seconds * 1000;
    },
  };
}

function job(status: object): Job {
  const metadata = { name: "orders-backup", uid: "job", creationTimestamp: new Date(made).toISOString() };
  return { apiVersion: "batch/v1", kind: "Job", metadata, status } as unknown as Job;
}

function pod(status: object, metadata: object = {}): Pod {
  return { metadata: { name: "p", ...metadata }, spec: { nodeName: "n" }, status } as unknown as Pod;
}

const ready = (isReady: boolean) => [
  { type: "ContainersReady", status: "True" },
  { type: "Ready", status: isReady ? "True" : "False" },
];
const running = (isReady = true) => pod({ phase: "Running", conditions: ready(isReady) });

test("it is Preparing until its Pod tells more", async () => {
  const { follow, asked } = stage({ phase: "Copying", percent: 40 });
  expect(follow(running())).toMatchObject({ kind: "running", ...phases.Preparing });
  await asked();
  expect(follow(running())).toEqual({ kind: "running", ...phases.Copying, progress: { phase: "Copying", percent: 40 } });
});

test("nobody is asked without the identity of a database", async () => {
  const { follow, asked } = stage({ phase: "Copying" }, false);
  follow(running());
  await asked();
  expect(follow(running())).toMatchObject(phases.Preparing);
});

test("its node may be away for a moment, and then it is lost", () => {
  const { follow, pass } = stage();
  const away = "node n of its Pod does not answer";
  expect(follow(running(false))).toMatchObject({ kind: "running", message: away });
  pass(39);
  expect(follow(running(false))).toMatchObject({ kind: "running", message: away });
  pass(2);
  expect(follow(running(false))).toEqual({ kind: "lost", message: away });
});

test("a node that was back in between is waited for anew", () => {
  const { follow, pass } = stage();
  follow(running(false));
  pass(30);
  follow(running());
  pass(30);
  expect(follow(running(false))).toMatchObject({ kind: "running" });
});

test("a Pod that does not end is lost", () => {
  const { follow, pass } = stage();
  pass(31);
  const going = pod({ phase: "Running" }, { deletionTimestamp: new Date(made).toISOString() });
  expect(follow(going)).toEqual({ kind: "lost", message: "its Pod p does not end, as on a lost node" });
});

test("a Pod that can't start is waited for, and after ten minutes it waits for a person", () => {
  const { follow, pass } = stage();
  const waits = pod({ phase: "Pending", containerStatuses: [{ name: "backup", state: { waiting: { reason: "ErrImagePull" } } }] });
  const message = "its Pod does not start: ErrImagePull";
  pass(600);
  expect(follow(waits)).toEqual({ kind: "running", reason: phases.Preparing.reason, message });
  pass(1);
  expect(follow(waits)).toEqual({ kind: "stuck", message });
});

test.each([
  ["Complete", 0],
  ["Failed", 1],
])("a Job that is %s has ended, with its last words", (type, exitCode) => {
  const said = pod({ containerStatuses: [{ name: "backup", state: { terminated: { exitCode, message: "words" } } }] });
  expect(stage().follow(said, { conditions: [{ type, status: "True" }] })).toEqual({ kind: "ended", words: "words" });
});

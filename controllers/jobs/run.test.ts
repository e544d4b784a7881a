// Given a Job, its Pod and the time: how the run stands.
import { expect, test } from "vitest";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { Job, Pod } from "../kinds/kubernetes.ts";
import { Patience } from "../patience.ts";
import { BackgroundQuestions } from "../repository/background-questions.ts";
import { phases, type RunProgress } from "../repository/run-progress.ts";
import { followRun, type RunDependencies, type RunStanding } from "./run.ts";

const database = { namespace: "shop", name: "orders", uid: "uid" };
/** Of each object, Kubernetes has told the same. */
const client = {
  list: async (_: unknown, { fieldSelector }: { readonly fieldSelector: string }) => ({
    items: [{ note: `warned of ${fieldSelector.split(/[=,]/)[1]}` }],
  }),
} as unknown as KubeClient;
const made = Date.parse("2026-05-04T12:00:00Z");

function stage(answer?: RunProgress, isKnown = true) {
  let time = made;
  const now = () => new Date(time);
  const progress = new BackgroundQuestions<RunProgress>(now);
  const progressQuestion = () => (answer ? async () => answer : undefined);
  const deps = { patience: new Patience(now), progress, progressQuestion, now } as unknown as RunDependencies;
  return {
    follow: (pod?: Pod, of: object = {}): Promise<RunStanding> =>
      followRun({ client }, deps, { job: job(of), pod }, isKnown ? database : undefined),
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
  return {
    metadata: { name: "p", creationTimestamp: new Date(made).toISOString(), ...metadata },
    spec: { nodeName: "n" },
    status,
  } as unknown as Pod;
}

const ready = (isReady: boolean) => [
  { type: "ContainersReady", status: "True" },
  { type: "Ready", status: isReady ? "True" : "False" },
];
const running = (isReady = true) => pod({ phase: "Running", conditions: ready(isReady) });

test("it is Preparing until its Pod tells more", async () => {
  const { follow, asked } = stage({ phase: "Copying", percent: 40 });
  expect(await follow(running())).toMatchObject({ kind: "running", ...phases.Preparing });
  await asked();
  expect(await follow(running())).toEqual({ kind: "running", ...phases.Copying, progress: { phase: "Copying", percent: 40 } });
});

test("nobody is asked without the identity of a database", async () => {
  const { follow, asked } = stage({ phase: "Copying" }, false);
  await follow(running());
  await asked();
  expect(await follow(running())).toMatchObject(phases.Preparing);
});

test("its node may be away for a moment, and then it is lost", async () => {
  const { follow, pass } = stage();
  const away = "node n of its Pod does not answer";
  expect(await follow(running(false))).toMatchObject({ kind: "running", message: away });
  pass(39);
  expect(await follow(running(false))).toMatchObject({ kind: "running", message: away });
  pass(2);
  expect(await follow(running(false))).toEqual({ kind: "lost", message: away });
});

test("a node that was back in between is waited for anew", async () => {
  const { follow, pass } = stage();
  await follow(running(false));
  pass(30);
  await follow(running());
  pass(30);
  expect(await follow(running(false))).toMatchObject({ kind: "running" });
});

test("a Pod that does not end is lost", async () => {
  const { follow, pass } = stage();
  pass(31);
  const going = pod({ phase: "Running" }, { deletionTimestamp: new Date(made).toISOString() });
  expect(await follow(going)).toEqual({ kind: "lost", message: "its Pod p does not end, as on a lost node" });
});

test("a Pod that can't start is waited for, and after ten minutes it waits for a person", async () => {
  const { follow, pass } = stage();
  const waits = pod({ phase: "Pending", containerStatuses: [{ name: "backup", state: { waiting: { reason: "ErrImagePull" } } }] });
  const message = "its Pod does not start: ErrImagePull";
  pass(600);
  expect(await follow(waits)).toEqual({ kind: "running", reason: phases.Preparing.reason, message });
  pass(1);
  expect(await follow(waits)).toEqual({ kind: "stuck", message });
});

test("a Pod that is made anew for a run of an hour has its own ten minutes", async () => {
  const { follow, pass } = stage();
  pass(3600);
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" }];
  const fresh = pod({ phase: "Pending", conditions }, { creationTimestamp: new Date(made + 3_595_000).toISOString() });
  expect(await follow(fresh)).toMatchObject({ kind: "running", message: "its Pod does not start: no node" });
  pass(600);
  expect(await follow(fresh)).toMatchObject({ kind: "stuck" });
});

const creating = { name: "backup", state: { waiting: { reason: "ContainerCreating" } } };
test.each<[string, Pod | undefined, string]>([
  ["no Pod", undefined, "it gets no Pod: warned of job"],
  [
    "a Pod that gets no volume",
    pod({ phase: "Pending", containerStatuses: [creating] }, { uid: "pod" }),
    "its Pod does not start: warned of pod",
  ],
])("with %s for a minute it tells the words of Kubernetes, and after ten it waits for a person", async (_, its, message) => {
  const { follow, pass } = stage();
  const { reason } = phases.Preparing;
  for (let minute = 0; minute <= 10; minute++, pass(60))
    expect(await follow(its)).toMatchObject({ kind: "running", reason, message: minute < 2 ? phases.Preparing.message : message });
  expect(await follow(its)).toEqual({ kind: "stuck", message });
  expect(await follow(running())).toMatchObject({ kind: "running" });
});

test.each([
  ["Complete", 0],
  ["Failed", 1],
])("a Job that is %s has ended, with its last words", async (type, exitCode) => {
  const said = pod({ containerStatuses: [{ name: "backup", state: { terminated: { exitCode, message: "words" } } }] });
  expect(await stage().follow(said, { conditions: [{ type, status: "True" }] })).toEqual({ kind: "ended", words: "words" });
});

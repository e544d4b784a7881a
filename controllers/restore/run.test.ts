// Given the Pod of a Job in place: whether nothing was overwritten.
import { expect, test } from "vitest";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { FoundJob } from "../jobs/runner.ts";
import { Patience } from "../patience.ts";
import { followInPlace } from "./run.ts";
import type { Scope } from "./scope.ts";
import type { RestoreState } from "./state.ts";

const made = "2026-05-04T12:00:00Z";
const now = () => new Date("2026-05-04T12:11:00Z");

const metadata = { name: "orders-restore", uid: "job", creationTimestamp: made };

function scopeAt(now: () => Date): Scope {
  const client = { list: async () => ({ items: [] }) };
  const progress = { look: () => undefined };
  const deps = { now, patience: new Patience(now), progress, progressQuestion: () => undefined };
  return { client, deps, restore: { status: { overwriteTime: made } } } as unknown as Scope;
}

/** As the Restore's controller sees it after eleven minutes. */
async function follow(status: object, ofPod: object = {}): Promise<RestoreState> {
  const pod = { metadata: { name: "p", creationTimestamp: made, ...ofPod }, spec: { nodeName: "n" }, status };
  return await followInPlace(scopeAt(now), { job: { metadata }, pod } as unknown as FoundJob, sampleDB());
}

/** As the controller sees it that has looked every ten seconds for eleven minutes. */
async function withoutPod(status: object): Promise<RestoreState> {
  let time = Date.parse(made);
  const scope = scopeAt(() => new Date(time));
  const run = { job: { metadata, status } } as unknown as FoundJob;
  for (; time < now().getTime(); time += 10_000) await followInPlace(scope, run, sampleDB());
  return await followInPlace(scope, run, sampleDB());
}

const waiting = (lastState: object = {}) => [
  { name: "recover", state: { waiting: { reason: "ImagePullBackOff", message: "no" } }, lastState },
];

test.each<[string, Promise<RestoreState>, boolean | undefined]>([
  ["a Pod that can't be started has overwritten nothing", follow({ initContainerStatuses: waiting() }), true],
  [
    "what a Pod has done that ran before, nobody knows",
    follow({ initContainerStatuses: waiting({ terminated: { exitCode: 1 } }) }),
    undefined,
  ],
  ["nor what a Pod has done that was lost, also where its node told nothing", follow({}, { deletionTimestamp: made }), undefined],
  ["a Job that never got a Pod has overwritten nothing", withoutPod({}), true],
  ["what a Pod has done that is gone, nobody knows", withoutPod({ failed: 1 }), undefined],
])("%s", async (_, following, untouched) => {
  const state = await following;
  expect(state).toMatchObject({ kind: "failed", reason: "RestoreLost" });
  expect(state.kind === "failed" && state.untouched).toBe(untouched);
});

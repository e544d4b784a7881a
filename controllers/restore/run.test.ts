// Given the Pod of a Job in place: whether nothing was overwritten.
import { expect, test } from "vitest";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { FoundJob } from "../jobs/runner.ts";
import { Patience } from "../patience.ts";
import { followInPlace } from "./run.ts";
import type { Scope } from "./scope.ts";

const made = "2026-05-04T12:00:00Z";
const now = () => new Date("2026-05-04T12:11:00Z");

/** As the Restore's controller sees it after eleven minutes. */
function follow(status: object, metadata: object = {}) {
  const job = { metadata: { name: "orders-restore", uid: "job", creationTimestamp: made } };
  const pod = { metadata: { name: "p", creationTimestamp: made, ...metadata }, spec: { nodeName: "n" }, status };
  const scope = { deps: { now, patience: new Patience(now) }, restore: { status: { overwriteTime: made } } } as unknown as Scope;
  return followInPlace(scope, { job, pod } as unknown as FoundJob, sampleDB());
}

const waiting = (lastState: object = {}) => [
  { name: "recover", state: { waiting: { reason: "ImagePullBackOff", message: "no" } }, lastState },
];

test.each<[string, ReturnType<typeof follow>, boolean | undefined]>([
  ["a Pod that can't be started has overwritten nothing", follow({ initContainerStatuses: waiting() }), true],
  [
    "what a Pod has done that ran before, nobody knows",
    follow({ initContainerStatuses: waiting({ terminated: { exitCode: 1 } }) }),
    undefined,
  ],
  ["nor what a Pod has done that was lost, also where its node told nothing", follow({}, { deletionTimestamp: made }), undefined],
])("%s", (_, state, untouched) => {
  expect(state).toMatchObject({ kind: "failed", reason: "RestoreLost" });
  expect(state.kind === "failed" && state.untouched).toBe(untouched);
});

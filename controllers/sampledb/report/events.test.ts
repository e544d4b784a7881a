import { expect, test } from "vitest";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { eventsBetween } from "./events.ts";

const time = "2026-01-01T00:00:00Z";
const condition = (type: string, status: "True" | "False", reason = "Because", message = "why") => ({
  ...{ type, status, reason, message, lastTransitionTime: time },
});
const ready = (status: "True" | "False", reason?: string): SampleDBStatus => ({ conditions: [condition("Ready", status, reason)] });
const initialized = (status: "True" | "False"): SampleDBStatus => ({ conditions: [condition("Initialized", status)] });
const led = (primaryPodName: string): SampleDBStatus => ({ primaryPodName });
const blocked = (message: string, sinceTime = time): SampleDBStatus => ({
  blockers: [{ reason: "Full", message, remedy: "grow", sinceTime }],
});

test.each<[string, SampleDBStatus | undefined, SampleDBStatus, string[]]>([
  ["nothing happened", ready("True"), ready("True"), []],
  ["it becomes ready", ready("False"), ready("True"), ["Normal Ready why"]],
  ["it is ready the first time that it is seen", undefined, ready("True"), ["Normal Ready why"]],
  ["it is no longer ready", ready("True"), ready("False", "NoPrimary"), ["Warning NotReady NoPrimary: why"]],
  ["it is new and not ready yet: no news", undefined, ready("False"), []],
  ["another reason for the same", ready("False", "A"), ready("False", "B"), []],
  ["the first primary", undefined, led("orders-0"), ["Normal PrimaryChanged orders-0 is the primary"]],
  ["another primary", led("orders-0"), led("orders-1"), ["Normal PrimaryChanged orders-1 is the primary now; before it was orders-0"]],
  ["the same primary", led("orders-0"), led("orders-0"), []],
  ["nobody leads", led("orders-0"), {}, []],
  ["initialized", initialized("False"), initialized("True"), ["Normal Initialized why"]],
  ["initialized before", initialized("True"), initialized("True"), []],
  ["something stands in the way", undefined, blocked("disk"), ["Warning Full disk. Way out: grow"]],
  ["it still does", blocked("disk"), blocked("disk", "2027-01-01T00:00:00Z"), []],
  ["something else does", blocked("disk"), blocked("other"), ["Warning Full other. Way out: grow"]],
  ["it is out of the way", blocked("disk"), {}, []],
])("%s", (_, before, now, expected) => {
  expect(eventsBetween(before, now).map(({ type, reason, note }) => `${type} ${reason} ${note}`)).toEqual(expected);
});

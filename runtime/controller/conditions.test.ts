// New conditions from the previous status and the present state.
import { expect, test } from "vitest";
import { type Condition, type ConditionNow, conditionsNow } from "./conditions.ts";

const then = "2026-01-01T00:00:00Z";
const now = "2026-02-02T00:00:00Z";
const clock = () => new Date("2026-02-02T00:00:00.987Z");

const ready = (status: Condition["status"], reason = "Why"): ConditionNow => ({ type: "Ready", status, reason, message: "" });
const at = (condition: ConditionNow, lastTransitionTime: string, observedGeneration?: number): Condition => ({
  ...condition,
  lastTransitionTime,
  ...(observedGeneration === undefined ? {} : { observedGeneration }),
});
const other: ConditionNow = { type: "Other", status: "True", reason: "Why", message: "" };

test.each<[string, Condition[] | undefined, ConditionNow[], number | undefined, Condition[]]>([
  ["the first time", undefined, [ready("True")], 1, [at(ready("True"), now, 1)]],
  ["the same again", [at(ready("True"), then, 1)], [ready("True")], 1, [at(ready("True"), then, 1)]],
  ["another status", [at(ready("True"), then, 1)], [ready("False")], 1, [at(ready("False"), now, 1)]],
  ["unknown is a status", [at(ready("True"), then, 1)], [ready("Unknown")], 1, [at(ready("Unknown"), now, 1)]],
  ["another reason alone", [at(ready("True"), then, 1)], [ready("True", "New")], 1, [at(ready("True", "New"), then, 1)]],
  ["another generation alone", [at(ready("True"), then, 1)], [ready("True")], 2, [at(ready("True"), then, 2)]],
  ["without a generation", [at(ready("True"), then, 1)], [ready("True")], undefined, [at(ready("True"), then)]],
  ["a condition that is dropped", [at(other, then), at(ready("True"), then)], [ready("True")], undefined, [at(ready("True"), then)]],
  [
    "a new condition beside another",
    [at(ready("True"), then)],
    [other, ready("True")],
    undefined,
    [at(other, now), at(ready("True"), then)],
  ],
])("conditions: %s", (_, before, told, generation, expected) => {
  expect(conditionsNow(before, told, generation, clock)).toEqual(expected);
});

import { expect, test } from "vitest";
import { backoffDelay, defaultBackoff, retryTime } from "./backoff.ts";

test.each([
  [1, 5],
  [2, 10],
  [8, 640],
  [18, 655_360],
  [19, 1_000_000],
  [5000, 1_000_000], // where the power is Infinity
])("backoff after %i failures in a row is %i ms", (failures, expected) => {
  expect(backoffDelay(failures, defaultBackoff)).toBe(expected);
});

test.each([
  ["that was not added during the run", 18, Number.POSITIVE_INFINITY, 655_360],
  ["that was added, with a long backoff: the bound", 18, -3, 1000],
  ["that was added, with a short backoff: the backoff", 3, -3, 20],
  ["that was added for a time between the two: that time", 18, 5000, 5000],
  ["that was added for a time after the backoff: the backoff", 3, 5000, 20],
])("retry time of a key %s", (_, failures, requestedIn, expected) => {
  expect(retryTime(7000, failures, 7000 + requestedIn, defaultBackoff) - 7000).toBe(expected);
});

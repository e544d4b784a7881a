import { expect, test } from "vitest";
import type { Condition } from "../../../api/conditions.ts";
import { made } from "./backups.fixture.ts";
import { secondsUntilDue } from "./mark.ts";

const marked = (reason: string): Condition => ({
  ...{ type: "Expiring", status: "True", reason, message: "" },
  lastTransitionTime: "2026-01-02T00:00:00Z",
});
const at = (seconds: number) => new Date(Date.parse("2026-01-02T00:00:00Z") + seconds * 1000);
const policy = { fullBackupCount: 1 };
const before = made(policy, { name: "before", day: 0.9 });
const since = made(policy, { name: "since", day: 1.01 });
const failedSince = made(policy, { name: "since", day: 1.01, failed: true });

test.each<[string, string, typeof before, number, number | undefined]>([
  ["what a new backup replaced goes at once", "BeyondRetention", before, 5, 0],
  ["what is claimed goes on", "ArtefactExpiring", before, 5, 0],
  ["what a change removes waits for a backup that succeeds", "RetentionChanged", before, 100_000, undefined],
  ["what a change removes does not wait for one that failed", "RetentionChanged", failedSince, 100_000, undefined],
  ["what a change removes waits for an hour, too", "RetentionChanged", since, 900, 2700],
  ["what a change removes goes after both", "RetentionChanged", since, 3600, 0],
  ["a failed expiry is tried again after ten minutes", "ExpiryFailed", before, 60, 540],
  ["a failed expiry is tried again then", "ExpiryFailed", before, 600, 0],
])("%s", (_, reason, siblings, seconds, due) => expect(secondsUntilDue(marked(reason), siblings, at(seconds))).toBe(due));

import { expect, test } from "vitest";
import { type SnapshotInputs, snapshotPhase } from "./snapshot-phase.ts";

const running: SnapshotInputs = { claimed: false, running: true, serves: true, cutOff: false, backup: "missing", check: "missing" };
const stopped: SnapshotInputs = { ...running, running: false, serves: false, cutOff: true, backup: "good" };

test.each<[string, Partial<SnapshotInputs>, SnapshotInputs, string]>([
  ["a database that sleeps is woken", { running: false, serves: false }, running, "Waking"],
  ["one without a primary waits for one", { serves: false }, running, "Waking"],
  ["clients are cut off first", {}, running, "CuttingOff"],
  ["then the Backup is made", { cutOff: true }, running, "BackingUp"],
  ["while it runs nothing stops", { cutOff: true, backup: "open" }, running, "BackingUp"],
  ["one that failed is made anew", { cutOff: true, backup: "failed" }, running, "BackingUp"],
  ["one from before a failover is made anew", { cutOff: true, backup: "outdated" }, running, "BackingUp"],
  ["after a failover the clients of the new primary are cut off", { backup: "open" }, running, "CuttingOff"],
  ["a good one lets the instances stop", { cutOff: true, backup: "good" }, running, "Stopping"],
  ["with all stopped the archive is checked", {}, stopped, "CheckingArchive"],
  ["while that is open nothing goes", { check: "open" }, stopped, "CheckingArchive"],
  ["a server that has to run once more is woken", { check: "refused" }, stopped, "Waking"],
  ["and stops again once it serves", { check: "refused", running: true, serves: true }, stopped, "Stopping"],
  ["and not before", { check: "refused", running: true }, stopped, "Waking"],
  ["after the check the volumes go", { check: "passed" }, stopped, "Releasing"],
  ["never with a Backup that is outdated", { check: "passed", backup: "outdated" }, stopped, "Waking"],
  ["never without a Backup", { check: "passed", backup: "missing" }, stopped, "Waking"],
  ["never while an instance is there", { check: "passed", running: true }, stopped, "Stopping"],
  ["once claimed, also where the Backup and the check are gone", { claimed: true, backup: "missing" }, stopped, "Releasing"],
  ["a claim counts for nothing while an instance is there", { claimed: true, running: true }, stopped, "Stopping"],
])("%s", (_, change, base, phase) => {
  expect(snapshotPhase({ ...base, ...change })).toBe(phase);
});

import { expect, test } from "vitest";
import { primary } from "../../database/instance.fixture.ts";
import { repositoryConfig } from "../../desired/repository.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { Archived } from "../../desired/store.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import { observed } from "../observations.fixture.ts";
import { judge } from "./last-backup.ts";

const base = sampleDB({ backup: {} } as never);
const deletionTimestamp = "2026-05-04T12:00:00Z";
const db = { ...base, metadata: { ...base.metadata, deletionTimestamp } } as Archived;
const config = repositoryConfig(db, { generation: 2 }, { server: "s", operator: "o" });
const repository = { config, claim: undefined, deployment: undefined, pod: undefined };
const stanza = `${db.metadata.uid}-17-2`;

function final(status: "True" | "False" | "Unknown", more: object = {}, metadata: object = {}): Backup {
  const conditions = [{ type: "Succeeded", status, reason: "R", message: "", lastTransitionTime: deletionTimestamp }];
  return {
    apiVersion: "",
    kind: "Backup",
    metadata: { name: "orders-final", creationTimestamp: "2026-05-04T12:00:03Z", ...metadata },
    spec: { sampleDBName: "orders", type: "Incremental", deletionPolicy: "Retain" },
    status: { conditions, timeline: 1, repository: { stanza }, ...more },
  } as unknown as Backup;
}

const leads = { ...primary(0), timeline: 1 };

test.each([
  ["none", undefined, "missing"],
  ["one that is being deleted", final("True", {}, { deletionTimestamp }), "missing"],
  ["one that runs", final("Unknown"), "open"],
  ["one that failed", final("False"), "failed"],
  ["a good one", final("True"), "good"],
  ["one of another timeline", final("True", { timeline: 2 }), "outdated"],
  ["one without a timeline", final("True", { timeline: undefined }), "outdated"],
  ["one in a former archive", final("True", { repository: { stanza: `${db.metadata.uid}-17-1` } }), "outdated"],
  ["one from before its cause", final("True", {}, { creationTimestamp: "2026-05-04T11:59:59Z" }), "outdated"],
])("%s", (_, found, verdict) => {
  expect(judge({ db, observed: observed([leads], { repository }) }, found, { since: deletionTimestamp })).toBe(verdict);
});

test("once the primary has stopped, its volume is asked for the timeline", () => {
  expect(judge({ db, observed: observed([], { repository }) }, final("True", { timeline: 2 }), { since: deletionTimestamp })).toBe("good");
});

test("without the notes of the archive nothing counts as good", () => {
  expect(judge({ db, observed: observed([leads]) }, final("True"), { since: deletionTimestamp })).toBe("outdated");
});

// Which Backups may be deleted together with what lies in the repository.
import { expect, test } from "vitest";
import { backup, ended } from "../controllers/backup/backup.fixture.ts";
import type { Backup, Restore } from "../controllers/kinds/sampledb-io.ts";
import { type AdmissionRequest, allowed } from "../runtime/webhooks/admission.ts";
import { backupGuard } from "./backup-guard.ts";
import type { Known } from "./validator.ts";

const stanza = { repository: { stanza: "uid-17-1" } };
const good = (name: string, label: string, deletionPolicy: "Retain" | "Delete" = "Delete") =>
  backup(name, { spec: { sampleDBName: "orders", type: "Full", deletionPolicy }, status: ended("True", { label, ...stanza }) });
const full = good("full", "20260501-000000F");
const incremental = good("incremental", "20260501-000000F_20260502-000000I");
const next = good("next", "20260503-000000F");
const reader = { metadata: { name: "back", namespace: "shop" }, spec: { source: { backupName: "full" } } } as unknown as Restore;

const expired = (gone: Backup): Backup => {
  const mark = {
    type: "Expiring",
    status: "True",
    reason: "ArtefactExpired",
    message: "",
    lastTransitionTime: "2026-05-04T12:00:00Z",
  } as const;
  return { ...gone, status: { ...gone.status, conditions: [...(gone.status?.conditions ?? []), mark] } };
};

function ask(name: string, backups: readonly Backup[], restores: readonly Restore[] = []) {
  const known = {
    backups: { get: ({ name: wanted }: { name: string }) => backups.find(({ metadata }) => metadata.name === wanted), list: () => backups },
    restores: { list: () => restores },
  } as unknown as Known;
  return backupGuard.validate({ operation: "DELETE", name, namespace: "shop" } as AdmissionRequest, known);
}

test.each([
  ["that others build on", "full", [full, incremental, next], [], /these Backups build on it: incremental/],
  ["that a Restore reads", "full", [full, next], [reader], /these Restores read it, or may: back/],
  ["that is the last good one", "full", [full, backup("bad", { status: ended("False") })], [], /the last good backup of SampleDB orders/],
] as const)("a Backup %s may not be deleted with its artefact", (_, name, backups, restores, message) => {
  expect(ask(name, backups, restores)).toMatchObject({ kind: "denied", message: expect.stringMatching(message) });
});

test.each([
  ["with another good one beside it", "full", [full, next]],
  ["that others build on, if its artefact stays", "full", [good("full", "20260501-000000F", "Retain"), incremental]],
  [
    "that failed",
    "bad",
    [backup("bad", { spec: { sampleDBName: "orders", type: "Full", deletionPolicy: "Delete" }, status: ended("False") })],
  ],
  ["that retention has removed from the repository, before those that built on it", "full", [expired(full), expired(incremental), next]],
  ["that is not known", "other", [full]],
] as const)("a Backup %s may be deleted", (_, name, backups) => expect(ask(name, backups)).toEqual(allowed()));

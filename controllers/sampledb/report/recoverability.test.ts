import { expect, test } from "vitest";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import type { RecoveryWindow } from "../../repository/answers.ts";
import type { ArchiveHealth } from "../archive/health.ts";
import { situation } from "../observations.fixture.ts";
import { recoverability } from "./recoverability.ts";

const at = (hour: number) => `2026-05-04T0${hour}:00:00Z`;
const made = (hour: number, generation = 1) => {
  const conditions = [{ type: "Succeeded", status: "True", reason: "BackupSucceeded", message: "", lastTransitionTime: at(hour) }];
  const times = { consistentTime: at(hour), completionTime: `2026-05-04T0${hour}:30:00Z` };
  return { metadata: { name: `at-${hour}` }, status: { conditions, ...times, repository: { stanza: `uid-17-${generation}` } } } as Backup;
};
const window = (first: number | undefined) =>
  ({ at: at(9), ...(first === undefined ? {} : { first: { label: "", at: at(first) } }) }) as RecoveryWindow;

function firstMoment(backups: Backup[], found: RecoveryWindow | undefined, told: string | undefined) {
  const db = { ...sampleDB({ backup: {} }, { uid: "uid" }), status: told === undefined ? {} : { firstRecoverableTime: told } };
  const archive = found && ({ window: found } as unknown as ArchiveHealth);
  return recoverability(situation({ db, backups, findings: { archive } })).firstRecoverableTime;
}

test.each<[string, Backup[], RecoveryWindow | undefined, string | undefined, string | undefined]>([
  ["there is no Backup", [], window(undefined), undefined, undefined],
  ["nothing is missing", [made(1), made(2)], window(1), undefined, at(1)],
  ["the oldest Backup is deleted, and the repository has not looked since", [made(2)], window(1), at(1), at(2)],
  ["a gap lies between two Backups", [made(1), made(3)], window(3), at(1), at(3)],
  ["the Backup after the gap is kept in the repository alone", [made(1)], window(3), at(3), at(3)],
  ["the operator has restarted, and a gap was told", [made(1), made(3)], undefined, at(3), at(3)],
  ["nobody has looked ever", [made(1), made(3)], undefined, undefined, at(1)],
  ["the archive began anew", [made(1), made(3, 2), made(4, 2)], window(3), at(1), at(3)],
  ["the archive began anew, and has no Backup yet", [made(1), made(2)], window(undefined), at(1), at(1)],
])("the first moment that can be restored when %s", (_, backups, found, told, first) => {
  expect(firstMoment(backups, found, told)).toBe(first);
});

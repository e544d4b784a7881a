// What the words of pgBackRest 2.55.1 about backups mean, as it printed them.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { run } from "../../tools/command.ts";

const host = "orders-0.orders-pods.shop.svc";
const noPrimary = "ERROR: [056]: unable to find primary cluster - cannot proceed\n       HINT: are all available clusters in recovery?";

/** Text, exit code, and the reason that follows. */
const faults: Readonly<Record<string, readonly [text: string, code: number, reason: string]>> = {
  "the certificate is refused": [
    `WARN: unable to check pg1: [AccessError] raised from remote-0 tls protocol on '${host}': access denied\n${noPrimary}`,
    56,
    "InstanceUnreachable",
  ],
  "PostgreSQL does not answer": [
    `WARN: unable to check pg1: [DbConnectError] unable to connect to 'dbname='postgres' port=5432': connection refused\n${noPrimary}`,
    56,
    "InstanceUnreachable",
  ],
  "the instance was lost while it was copied": [
    `ERROR: [042]: raised from remote-0 tls protocol on '${host}': timeout after 5000ms waiting for read from '${host}:8432'`,
    42,
    "InstanceUnreachable",
  ],
  "another backup runs on the instance": [
    `WARN: unable to check pg1: [LockAcquireError] raised from remote-0 tls protocol on '${host}': unable to acquire lock on file '/tmp/x.lock': Resource temporarily unavailable\n${noPrimary}`,
    56,
    "BackupRunning",
  ],
  "another backup runs in the same Pod": ["ERROR: [050]: unable to acquire lock on file '/run/x.lock'", 50, "BackupRunning"],
  "the last segment is not archived": [
    "ERROR: [082]: WAL segment 000000010000000000000002 was not archived before the 60000ms timeout",
    82,
    "WALNotArchived",
  ],
  "the replica has lost its primary": [
    "ERROR: [082]: timeout before standby replayed to 0/2F0000E0 - only reached 0/2F000000",
    82,
    "InstanceUnreachable",
  ],
  "the store is lost": ["ERROR: [049]: unable to connect to 's3.example:443': [111] Connection refused", 49, "StoreUnreachable"],
  "the store denies": ["ERROR: [039]: HTTP request failed with 403 (Forbidden):", 39, "StoreDenied"],
  "the volume is full": ["ERROR: [040]: unable to write '/r/x': [28] No space left on device", 40, "RepositoryFull"],
  "archive_command is another one": ["ERROR: [068]: archive_command '/bin/true' must contain pgbackrest", 68, "BackupFailed"],
  "pgBackRest crashed": ["", -11, "BackupFailed"],
};

/** Text and exit code of a copy that failed, and whether a connection ended in the middle of it. The text of the full volume is put together. */
const copies: Readonly<Record<string, readonly [text: string, code: number, brokenOff: boolean]>> = {
  "the instance's node was lost": [
    `ERROR: [042]: raised from remote-0 tls protocol on '${host}': timeout after 5000ms waiting for read from '${host}:8432'`,
    42,
    true,
  ],
  "the server of the data was killed": ["ERROR: [101]: TLS error [1:167772454] unexpected eof while reading\n", 101, true],
  "the server of the data was killed, without a word": ["ERROR: [101]: TLS error [5:0] no details available\n", 101, true],
  "the server of the data was killed between two answers": ["ERROR: [039]: client state is 'response' but expected 'idle'\n", 39, true],
  "PostgreSQL was killed": [
    `ERROR: [057]: raised from remote-0 tls protocol on '${host}': unable to execute query 'select pg_catalog.pg_is_in_recovery()': server closed the connection unexpectedly`,
    57,
    true,
  ],
  "the replica was promoted": ["ERROR: [082]: timeout before standby replayed to 0/2F0000E0 - only reached 0/2F000000", 82, true],
  "there was no primary to begin with": [`WARN: unable to check pg1: [DbConnectError] connection refused\n${noPrimary}`, 56, false],
  "the volume is full": ["ERROR: [040]: unable to write '/r/x': [28] No space left on device\nBroken pipe", 40, false],
  "the last segment is not archived": [
    "ERROR: [082]: WAL segment 000000010000000000000002 was not archived before the 60000ms timeout",
    82,
    false,
  ],
};

const label = "20261118-041448F_20261118-041553I";
const verified = (status: string, backup: string, valid = 969, segments = 2) => `stanza: st
status: ${status}
  archiveId: 17-1, total WAL checked: 2, total valid WAL: ${segments}
    missing: 0, checksum invalid: 0, size invalid: 0, other: 0
  backup: 20261118-041448F, status: valid, total files checked: 966, total valid files: 966
    missing: 0, checksum invalid: 0, size invalid: 0, other: 0
  backup: ${label}, status: ${backup}, total files checked: 969, total valid files: ${valid}
    missing: 0, checksum invalid: 0, size invalid: 0, other: 0
`;
const file = `INFO: invalid checksum '${label}/bundle/1'`;

/** Output, log, and the reason and message that follow. */
const verifications: Readonly<Record<string, readonly [text: string, told: string, found: readonly [string, string] | null]>> = {
  "all is good": [verified("ok", "valid"), "INFO: verify command begin 2.55.1: --set=x\nINFO: verify command end", null],
  "a checksum is wrong": [verified("error", "invalid", 968), file, ["RepositoryFileBad", `invalid checksum '${label}/bundle/1'`]],
  "one file is named many times": [
    verified("error", "invalid", 934),
    Array(35).fill("INFO: file missing 'x/bundle/1'").join("\n"),
    ["RepositoryFileBad", "file missing 'x/bundle/1'"],
  ],
  "many files": [
    verified("error", "invalid", 9),
    ["a", "b", "c", "d", "e"].map((name) => `INFO: file missing '${name}'`).join("\n"),
    ["RepositoryFileBad", "file missing 'a'; file missing 'b'; file missing 'c'; and 2 more"],
  ],
  "it is called good, and fewer files were": [verified("ok", "valid", 968), "", ["RepositoryFileBad", verified("ok", "valid", 968)]],
  "a segment is bad": [verified("ok", "valid", 969, 1), "", ["RepositoryFileBad", verified("ok", "valid", 969, 1)]],
  "the manifest is missing": [
    verified("ok", "manifest missing"),
    "INFO: unable to open missing file '/r/backup.manifest' for read",
    ["RepositoryFileBad", "unable to open missing file '/r/backup.manifest' for read"],
  ],
  "nothing was said": ["", "", ["RepositoryFileBad", "verify said nothing"]],
  "the store was lost meanwhile": [
    verified("error", "invalid", 9),
    "INFO: invalid verify 'x': [49] unable to connect to 's3:443': [111] Connection refused",
    ["StoreUnreachable", "invalid verify 'x': [49] unable to connect to 's3:443': [111] Connection refused"],
  ],
};

const good = { annotation: { "sampledb-verified": "2026-11-18T02:00:00Z" } };
const [full, diff, incr] = [{ type: "full" }, { type: "diff" }, { type: "incr" }];

/** The backups that are there, oldest first; the type that is asked for, and the one that is made. */
const types: Readonly<Record<string, readonly [backups: readonly object[], asked: string, made: string]>> = {
  "a full one": [[{ ...full, ...good }], "full", "full"],
  "there is none to build on": [[], "incr", "full"],
  "all are good": [
    [
      { ...full, ...good },
      { ...diff, ...good },
    ],
    "incr",
    "incr",
  ],
  "a differential one builds on the full one": [[{ ...full, ...good }, diff], "diff", "diff"],
  "the newest is bad, and its full one good": [[{ ...full, ...good }, incr], "incr", "diff"],
  "the newest full one is bad": [
    [
      { ...full, ...good },
      { ...full, annotation: null },
    ],
    "diff",
    "full",
  ],
  "the newest full one is bad, and one that builds on it good": [[full, { ...diff, ...good }], "diff", "full"],
};

const manifest = `[target:file]
pg_data/base/5/1={"checksum-page":true,"size":8192}
pg_data/base/5/2={"checksum-page":false,"checksum-page-error":[3,[7,8]],"size":8192}
pg_data/base/5/3={"checksum-page":false,"size":8193}
`;

const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
import backup_report as it
from store_faults import Fault, reason_of
faults, verifications, types, copies, label, host, manifest = json.loads(sys.argv[2])
pair = lambda fault: fault and [fault.reason, fault.message]
def unreadable(text):
    try:
        it.stanza_of(json.dumps([{"repo": [{"status": {"code": 99, "message": text}}]}]))
    except Fault as fault:
        return fault.reason
of_run = lambda text, code: it.fault_of_run(Fault(reason_of(text), "…", text=text, code=code), [host])
print(json.dumps({
    "faults": [of_run(text, code).reason for text, code, _ in faults],
    "copies": [it.is_broken_off(of_run(text, code)) for text, code, _ in copies],
    "told": [it.broken_off(host, of_run(text, code)) for text, code, broken_off in copies if broken_off],
    "verifications": [pair(it.fault_in_verification(text, told, label)) for text, told, _ in verifications],
    "types": [it.type_to_make({"backup": backups}, asked) for backups, asked, _ in types],
    "pages": [it.bad_pages(manifest), it.words_for_pages(it.bad_pages(manifest)), it.words_for_pages({"base/5/2": ["3"]})],
    "unreadable": unreadable("[ProtocolError] HTTP request failed with 403 (Forbidden)"),
    "empty": it.stanza_of("[]"),
}))
`;

// biome-ignore lint/suspicious/noExplicitAny: tests look at what the program says
let found: any;

beforeAll(async () => {
  const input = JSON.stringify([...[faults, verifications, types, copies].map((each) => Object.values(each)), label, host, manifest]);
  found = JSON.parse(await run("python3", ["-ISBc", program, join(import.meta.dirname), input]));
});

describe("reason of a run that failed", () => {
  test.each(Object.entries(faults).map(([what, [, , reason]], index) => ({ what, reason, index })))("$what", ({ reason, index }) => {
    expect(found.faults[index]).toBe(reason);
  });
});

describe("a copy whose connection ended is told apart", () => {
  test.each(Object.entries(copies).map(([what, [, , brokenOff]], index) => ({ what, brokenOff, index })))("$what", (each) => {
    expect(found.copies[each.index]).toBe(each.brokenOff);
  });

  test("and says whether the instance ended or lost its primary", () => {
    const [first, last] = [found.told.at(0), found.told.at(-1)];
    expect(first).toMatch(`${host} ended during the backup, or was cut off: make another Backup`);
    expect(last).toMatch(`${host} has not followed the primary in time, as after a failover: make another Backup`);
  });
});

describe("what verify has found", () => {
  test.each(Object.entries(verifications).map(([what, [, , expected]], index) => ({ what, expected, index })))("$what", (each) => {
    expect(found.verifications[each.index]).toEqual(each.expected);
  });
});

describe("type of a backup that is made", () => {
  test.each(Object.entries(types).map(([what, [, , made]], index) => ({ what, made, index })))("$what", ({ made, index }) => {
    expect(found.types[index]).toBe(made);
  });
});

test("pages with a bad checksum are told as far as the manifest has their numbers", () => {
  expect(found.pages).toEqual([
    { "base/5/2": ["3", "7-8"], "base/5/3": [] },
    "bad page checksum in file base/5/2 at pages 3, 7-8, and 1 more",
    "bad page checksum in file base/5/2 at page 3",
  ]);
});

test("a repository that info could not read is a failure, and one without a stanza is empty", () => {
  expect(found.unreadable).toBe("StoreDenied");
  expect(found.empty).toMatchObject({ backup: [] });
});

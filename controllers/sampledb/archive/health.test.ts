import { describe, expect, test } from "vitest";
import type { Condition } from "../../../api/conditions.ts";
import type { Begun } from "../../desired/archive-notes.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { InstanceAnswer, RepositoryAnswer } from "../../repository/answers.ts";
import type { Report } from "../../repository/background-questions.ts";
import { type ArchiveInputs, archiveHealth } from "./health.ts";

const now = new Date("2026-05-04T12:00:00Z");
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const gibibyte = 1024 ** 3;

const probe = (told: Partial<NonNullable<RepositoryAnswer["probe"]>> = {}): RepositoryAnswer => ({
  stanza: "uid-17-2",
  probe: { at: ago(10).toISOString(), ok: true, ...told },
});
const well: InstanceAnswer = { waiting: 0, oldestSeconds: 0, failure: null, sizeBytes: 10 * gibibyte, availableBytes: 8 * gibibyte };
const failing = (seconds: number, told: Partial<InstanceAnswer> = {}): InstanceAnswer => ({
  ...well,
  waiting: 7,
  oldestSeconds: seconds,
  failure: { since: ago(seconds).toISOString(), segment: "000000010000000000000007", message: "no route to host" },
  ...told,
});

interface Situation {
  readonly repository?: Report<RepositoryAnswer> | undefined;
  readonly primary?: Report<InstanceAnswer> | undefined;
  readonly conditions?: readonly Condition[];
  readonly hindrance?: ArchiveInputs["hindrance"];
  readonly switchedOn?: boolean;
  readonly begun?: Begun;
  readonly backedUp?: boolean;
}

function health(situation: Situation = {}) {
  const {
    repository,
    primary,
    conditions = [],
    hindrance,
    switchedOn = true,
    begun,
    backedUp = false,
  } = {
    repository: { answer: probe(), at: now },
    primary: { answer: well, at: now },
    ...situation,
  };
  const repositoryInBucket = {
    s3: { endpoint: "https://s3", region: "r", bucket: "backups", credentialsSecretName: "keys", caSecretName: "authority" },
  };
  const { spec } = sampleDB({ backup: { repository: repositoryInBucket, encryptionSecretName: "phrase" } });
  const db = { spec, status: { conditions: [...conditions] } };
  const archive = { stanza: "uid-17-2", notes: { generation: 2, begun } };
  return archiveHealth({ db, reports: { repository, primary }, hindrance, switchedOn, archive, backedUp, now });
}

const condition = (type: string, status: "True" | "False", reason: string): Condition => ({
  ...{ type, status, reason, message: "as before", lastTransitionTime: "2026-05-04T00:00:00Z" },
});

describe("the repository", () => {
  test("is reachable when the probe succeeds", () => {
    expect(health()).toMatchObject({ repository: { status: "True", reason: "RepositoryReachable" }, blockers: [] });
  });

  test.each([
    ["CredentialsMissing", true],
    ["StoreDenied", true],
    ["BucketMissing", true],
    ["WrongRegion", true],
    ["StoreUntrusted", true],
    ["StoreUnreachable", false],
    ["RepositoryFull", true],
    ["WrongPassphrase", true],
    ["ArchiveConflict", false],
    ["StoreFailed", false],
  ] as const)("that says %s is not; a blocker at once: %s", (reason, blocks) => {
    const repository = { answer: probe({ ok: false, reason, step: "write", message: "in the store's words" }), at: now };
    const { repository: verdict, blockers } = health({ repository });
    expect(verdict).toEqual({ status: "False", reason, message: "write: in the store's words" });
    expect(blockers.map((blocker) => blocker.reason)).toEqual(blocks ? [reason] : []);
  });

  test.each([
    ["store/accessKeyId can't be read: No such file or directory", "Secret keys, key accessKeyId can't be read: No such file or directory"],
    ["store-ca/ca.crt is missing or empty", "Secret authority, key ca.crt is missing or empty"],
    ["encryption/passphrase is empty", "Secret phrase, key passphrase is empty"],
  ])("that says %s names the Secret", (message, told) => {
    const repository = { answer: probe({ ok: false, reason: "CredentialsMissing", step: "credentials", message }), at: now };
    expect(health({ repository }).repository.message).toBe(`credentials: ${told}`);
  });

  test("that is silent for a moment stays as it was told by its last answer, and is told as silent after 90 s", () => {
    const silent = (seconds: number) => ({ answer: probe(), silence: "connection refused", silentSince: ago(seconds), at: now });
    expect(health({ repository: silent(60) }).repository.status).toBe("True");
    expect(health({ repository: silent(91) })).toMatchObject({
      repository: { status: "False", reason: "RepositorySilent", message: expect.stringContaining("connection refused") },
      blockers: [{ reason: "RepositorySilent" }],
    });
  });

  test("whose Pod does not start is told at once, with what to do", () => {
    const hindrance = { message: "it does not start: 0/3 nodes are available", remedy: "make room", mayPass: false };
    expect(health({ repository: undefined, hindrance })).toMatchObject({
      ...{ repository: { status: "False", reason: "RepositorySilent", message: hindrance.message } },
      blockers: [{ reason: "RepositorySilent", message: hindrance.message, remedy: "make room" }],
    });
    expect(health({ hindrance }).repository.status).toBe("True"); // it answers
  });

  test("whose node is lost is told when it has not moved within 90 s", () => {
    const hindrance = { message: "it is lost: its node a does not answer", remedy: "wait", mayPass: true };
    const silent = (seconds: number) => ({ answer: probe(), silence: "timeout", silentSince: ago(seconds), at: now });
    expect(health({ repository: silent(60), hindrance }).repository.status).toBe("True");
    expect(health({ repository: silent(91), hindrance }).repository).toMatchObject({ status: "False", message: hindrance.message });
  });

  test("that nobody has asked yet: as it was told before, or starting", () => {
    expect(health({ repository: undefined }).repository).toMatchObject({ status: "Unknown", reason: "RepositoryStarting" });
    const conditions = [condition("RepositoryReachable", "False", "StoreDenied")];
    expect(health({ repository: undefined, conditions }).repository).toMatchObject({ status: "False", reason: "StoreDenied" });
  });
});

describe("archiving", () => {
  test("is healthy when nothing waits", () => {
    expect(health().archiving).toMatchObject({ status: "True", reason: "Archiving" });
  });

  test.each([
    ["fails for four minutes", failing(240), "True", []],
    ["fails for six minutes", failing(360), "False", ["ArchivingFails"]],
    ["fails for a minute with a nearly full disk", failing(60, { availableBytes: gibibyte }), "False", ["ArchiveFillsDisk"]],
    ["is slow: the oldest segment waits for six minutes", { ...well, waiting: 90, oldestSeconds: 360 }, "False", ["ArchivingFails"]],
    ["has a nearly full disk, and nothing waits", { ...well, availableBytes: gibibyte }, "True", []],
  ] as const)("that %s is %s", (_, answer, status, blockers) => {
    const told = health({ primary: { answer, at: now } });
    expect(told.archiving.status).toBe(status);
    expect(told.blockers.map(({ reason }) => reason)).toEqual(blockers);
  });

  test("that fails says since when, what waits, what room is left and for how long, and the store's words", () => {
    const { message } = health({ primary: { answer: failing(3600, { waiting: 64 }), at: now } }).archiving;
    expect(message).toBe(
      "for 60 minutes: about 60 segments wait, 80 % of the primary's volume is free, and lasts for about 8 hours at this rate. no route to host",
    );
  });

  test("that the archive refuses, because it has another content for a segment, says so", () => {
    const failure = {
      name: "000000010000000000000007",
      reason: "ArchiveConflict",
      message: "another content",
      at: now.toISOString(),
    } as const;
    const told = health({ repository: { answer: { ...probe(), archive: { failure } }, at: now } });
    expect(told).toMatchObject({
      archiving: { status: "False", reason: "ArchiveConflict", message: "000000010000000000000007: another content" },
      blockers: [{ reason: "ArchiveConflict" }],
    });
  });

  test("that a former archive has refused is well again with its successor", () => {
    const failure = {
      name: "000000010000000000000007",
      reason: "ArchiveConflict",
      message: "another content",
      at: now.toISOString(),
    } as const;
    const told = health({ repository: { answer: { ...probe(), stanza: "uid-17-1", archive: { failure } }, at: now } });
    expect(told).toMatchObject({ archiving: { status: "True" }, blockers: [] });
  });

  const dropped: Begun = { because: "Dropped", at: "2026-05-04T11:00:00Z", former: "uid-17-1", lostSince: "2026-05-04T09:00:00Z" };

  test.each<[string, Situation, string, string, RegExp]>([
    ["by an order, with a good backup since", { begun: dropped, backedUp: true }, "True", "Archiving", /reach the repository$/],
    ["by an order", { begun: dropped }, "True", "FullBackupDue", /uid-17-1 was given up.*since 2026-05-04T09:00:00Z can't be restored/],
    [
      "by a conflict",
      { begun: { because: "Conflict", at: dropped.at, former: dropped.former } },
      ...([
        "True",
        "FullBackupDue",
        /uid-17-1 has another content.*since 2026-05-04T11:00:00Z can't be restored until a full backup/,
      ] as const),
    ],
    [
      "by an order, and does not work yet",
      { begun: dropped, primary: { answer: failing(360), at: now } },
      ...(["False", "ArchivingFails", /segments wait.*no route to host\. A new archive began at 2026-05-04T11:00:00Z/] as const),
    ],
    [
      "by an order, before anybody is asked",
      { begun: dropped, primary: undefined },
      "Unknown",
      "ArchivingUnknown",
      /^the primary does not say/,
    ],
  ])("to an archive that began %s", (_, situation, status, reason, message) => {
    expect(health(situation).archiving).toEqual({ status, reason, message: expect.stringMatching(message) });
  });

  test("to a new archive is told once, also after a restart of the operator, before anybody is asked", () => {
    const { archiving } = health({ begun: dropped });
    const conditions = [{ ...condition("ArchivingHealthy", "True", archiving.reason), message: archiving.message }];
    expect(health({ begun: dropped, primary: undefined, conditions }).archiving).toMatchObject(archiving);
  });

  test.each([
    ["ArchivingFails", failing(360)],
    ["ArchiveFillsDisk", failing(60, { availableBytes: gibibyte })],
  ])("that says %s names the order that gives the archive up", (reason, answer) => {
    const { blockers } = health({ primary: { answer, at: now } });
    expect(blockers).toEqual([
      { reason, message: expect.any(String), remedy: expect.stringContaining("sampledb.io/drop-archive=uid-17-2") },
    ]);
  });

  test("says the same a minute later, so that the status is not written at every look", () => {
    const at = (seconds: number, waiting: number) =>
      health({ primary: { answer: failing(seconds, { waiting }), at: now } }).archiving.message;
    expect(at(3600, 61)).toBe(at(3660, 62));
  });

  test("that the instances have yet to restart with is not known", () => {
    expect(health({ switchedOn: false }).archiving).toMatchObject({ status: "Unknown", reason: "ArchivingStarts" });
  });

  test("a question that went unanswered once, some time ago, is no silence", () => {
    const moved = { answer: probe(), silence: "its Pod has no address", silentSince: ago(100), at: ago(100) };
    expect(health({ repository: moved }).repository).toMatchObject({ status: "True", reason: "RepositoryReachable" });
  });

  test("without a word of the primary: as it was told before, or not known", () => {
    expect(health({ primary: undefined }).archiving).toMatchObject({ status: "Unknown", reason: "ArchivingUnknown" });
    const conditions = [condition("ArchivingHealthy", "False", "ArchivingFails")];
    expect(health({ primary: undefined, conditions }).archiving).toMatchObject({ status: "False", reason: "ArchivingFails" });
    const silent = { silence: "refused", silentSince: ago(5), at: now };
    expect(health({ primary: silent, conditions }).archiving).toMatchObject({ status: "Unknown", reason: "ArchivingUnknown" });
    expect(health({ primary: { ...silent, answer: well } }).archiving.status).toBe("True");
    expect(health({ primary: { ...silent, answer: well, silentSince: ago(91) } }).archiving).toMatchObject({ reason: "ArchivingUnknown" });
  });
});

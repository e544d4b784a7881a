import { describe, expect, test } from "vitest";
import type { Begun } from "../../desired/archive-notes.ts";
import { repositoryConfig } from "../../desired/repository.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { Archived } from "../../desired/store.ts";
import type { InstanceAnswer } from "../../repository/answers.ts";
import { type DropOrder, dropOf, dropOrder } from "./drop-order.ts";

const db = sampleDB({ backup: {} } as Parameters<typeof sampleDB>[0]) as Archived;
const now = new Date("2026-05-04T12:00:00.000Z");
const dropped: Begun = { because: "Dropped", at: now.toISOString(), former: "uid-of-orders-17-1" };
const conflict: Begun = { ...dropped, because: "Conflict" };

const ordered = (value: string | undefined) => ({
  metadata: { ...db.metadata, annotations: value === undefined ? {} : { "sampledb.io/drop-archive": value } },
});
const present = (begun: Begun | undefined) => ({
  ...{ db, config: repositoryConfig(db, { generation: 2 }, { server: "s", operator: "o" }) },
  ...{ notes: { generation: 2, begun }, stanza: "uid-of-orders-17-2" },
});

describe("an order to give up an archive", () => {
  test.each<[string, string | undefined, Begun | undefined, DropOrder["kind"]]>([
    ["that nobody has given", undefined, undefined, "none"],
    ["that names the present archive", "uid-of-orders-17-2", undefined, "open"],
    ["that names the present archive, which began by an order", "uid-of-orders-17-2", dropped, "open"],
    ["that names the archive which was given up last", "uid-of-orders-17-1", dropped, "carriedOut"],
    ["that names an archive which ended by a conflict", "uid-of-orders-17-1", conflict, "refused"],
    ["that names the archive of another database", "uid-of-others-17-2", undefined, "refused"],
    ["that names a later archive", "uid-of-orders-17-3", undefined, "refused"],
    ["that is a generation", "2", undefined, "refused"],
    ["that is a mere yes", "true", undefined, "refused"],
    ["that is empty", "", undefined, "refused"],
  ])("%s", (_, value, begun, kind) => {
    expect(dropOrder(ordered(value), present(begun)).kind).toBe(kind);
  });

  test("without an archive is refused", () => {
    expect(dropOrder(ordered("uid-of-orders-17-1"), undefined).kind).toBe("refused");
  });

  test("for another archive is refused with the name of the present one", () => {
    expect(dropOrder(ordered("true"), present(undefined))).toMatchObject({
      why: expect.stringContaining("the archive is uid-of-orders-17-2"),
    });
  });
});

describe("what is let go", () => {
  const system = "7300000000000000001";
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();
  const failure = (seconds: number) => ({ since: ago(seconds), segment: "000000010000000000000004", message: "refused" });
  const waiting: InstanceAnswer = {
    ...{ waiting: 3, newest: "000000010000000000000007", oldestSeconds: 3600, failure: null, sizeBytes: 10, availableBytes: 1 },
  };

  test.each<[string, InstanceAnswer, string]>([
    ["segments that have failed for an hour", { ...waiting, failure: failure(3600) }, ago(3600)],
    ["segments that fail since a moment, of which the oldest waits for an hour", { ...waiting, failure: failure(5) }, ago(3600)],
    ["segments that fail since before the oldest", { ...waiting, oldestSeconds: 10, failure: failure(60) }, ago(60)],
    ["segments that wait for long on a volume that is too full for a note of the failure", waiting, ago(3600)],
  ])("%s, up to the last that waits", (_, answer, lostSince) => {
    expect(dropOf(answer, system, now)).toEqual({
      kind: "drop",
      letGo: { systemIdentifier: system, last: "000000010000000000000007" },
      lostSince,
    });
  });

  test.each<[string, InstanceAnswer, string | undefined, "refused" | "waits"]>([
    ["nothing waits", { ...waiting, waiting: 0, newest: null, oldestSeconds: 0 }, system, "refused"],
    ["the segments are on their way", { ...waiting, oldestSeconds: 299 }, system, "refused"],
    ["an older image does not say what waits", { ...waiting, newest: undefined }, system, "waits"],
    ["the data is not known", waiting, undefined, "waits"],
  ])("is nothing where %s", (_, answer, systemIdentifier, kind) => {
    expect(dropOf(answer, systemIdentifier, now).kind).toBe(kind);
  });
});

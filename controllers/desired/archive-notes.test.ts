import { describe, expect, test } from "vitest";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import { type ArchiveNotes, type Begun, nextArchive, notesWanted, stanzaOf } from "./archive-notes.ts";
import { repositoryConfig, repositoryOff } from "./repository.ts";
import { sampleDB } from "./sampledb.fixture.ts";
import type { Archived } from "./store.ts";

const db = sampleDB({ backup: {} } as Parameters<typeof sampleDB>[0]) as Archived;
const clients = { server: "shop/orders/server", operator: "shop/orders/operator" };
const noted = (notes: ArchiveNotes): ConfigMap => repositoryConfig(db, notes, clients);
const begun: Begun = {
  because: "Dropped",
  at: "2026-05-04T12:00:00.000Z",
  former: "uid-of-orders-17-1",
  lostSince: "2026-05-04T10:00:00.000Z",
};
const letGo = { systemIdentifier: "7300000000000000001", last: "000000010000000000000042" };

describe("the archive that is wanted", () => {
  test.each([
    ["at first", undefined, { generation: 1 }],
    ["while the first one is archived to", noted({ generation: 1 }), { generation: 1 }],
    ["while a later one is", noted({ generation: 4 }), { generation: 4 }],
    ["after archiving was off", repositoryOff(db, 4), { generation: 5 }],
    ["after one was given up", noted({ generation: 2, begun, letGo }), { generation: 2, begun, letGo }],
  ])("%s", (_, config, wanted) => {
    expect(notesWanted(config, db)).toEqual({ begun: undefined, letGo: undefined, ...wanted });
  });

  test.each(["", "[]", "null", "7", `{"because":"Dropped"}`, `{"because":"Whim","at":"2026","former":"x"}`])(
    "is the noted one, also where the note of its beginning is %s",
    (text) => {
      const { metadata, ...config } = noted({ generation: 2, letGo });
      const annotations = { ...metadata.annotations, "sampledb.io/archive-begun": text, "sampledb.io/archive-let-go": "garbage" };
      expect(notesWanted({ ...config, metadata: { ...metadata, annotations } }, db)).toEqual({ generation: 2 });
    },
  );
});

test("of an earlier SampleDB of the name nothing is let go: its data may be back as it was before the order", () => {
  const later = { ...db, metadata: { ...db.metadata, uid: "uid-of-later" } };
  expect(notesWanted(noted({ generation: 2, begun, letGo }), later)).toEqual({ generation: 2, begun, letGo: undefined });
});

describe("the next archive", () => {
  const conflict: Begun = { because: "Conflict", at: begun.at, former: "uid-of-orders-17-2" };
  const restored: Begun = { ...conflict, because: "Restored" };
  const later = { ...letGo, last: "000000010000000000000077" };
  test.each([
    ["after a conflict", { generation: 1 }, conflict, undefined, { generation: 2, begun: conflict }],
    [
      "after a conflict: what was let go stays so",
      { generation: 2, begun, letGo },
      conflict,
      undefined,
      { generation: 3, begun: conflict, letGo },
    ],
    ["after an order", { generation: 1 }, begun, letGo, { generation: 2, begun, letGo }],
    [
      "after a restore: restored data writes smaller names again, and they are archived",
      { generation: 2, begun, letGo },
      restored,
      undefined,
      { generation: 3, begun: restored },
    ],
    ["after a second order", { generation: 2, letGo }, begun, later, { generation: 3, begun, letGo: later }],
  ])("%s", (_, present, why, dropped, next) => {
    expect(nextArchive(present, why, dropped)).toEqual(next);
    expect(stanzaOf(db, next)).not.toBe(stanzaOf(db, present));
  });
});

test("the ConfigMap names the archive as its program reads it, so that a person can read the name for an order", () => {
  const { metadata, data } = noted({ generation: 3 });
  expect(metadata.annotations?.["sampledb.io/stanza"]).toBe("uid-of-orders-17-3");
  expect(JSON.parse(data?.["clients.json"] ?? "")).toMatchObject({ stanza: "uid-of-orders-17-3" });
});

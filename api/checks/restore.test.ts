import { expect, test } from "vitest";
import { restoreSpec } from "../restore.ts";
import { checkRestore } from "./restore.ts";

const check = (fields: object) =>
  checkRestore(restoreSpec.parse({ source: { sampleDBName: "a" }, destination: { type: "New", sampleDBName: "b" }, ...fields }));

test.each([
  {},
  { destination: { type: "InPlace", sampleDBName: "a" } },
  { source: { backupName: "x" }, destination: { type: "InPlace", sampleDBName: "a" } },
  { target: { type: "TransactionID", transactionID: "18446744073709551615" } },
  { source: { repository: { stanza: "uid-17-1", volumeClaimName: "a" } } },
  { target: { type: "RestorePoint", restorePoint: "before the ä" } },
  { destination: { type: "New", sampleDBName: "b", overrides: { replicas: 1, resources: { requests: { cpu: 1 } } } } },
])("%j is right", (fields) => expect(check(fields)).toEqual([]));

test.each([
  [
    { destination: { type: "New", sampleDBName: "a" } },
    "spec.destination.sampleDBName",
    '"a" is the source itself; New needs another name',
  ],
  [{ destination: { type: "InPlace", sampleDBName: "b" } }, "spec.destination.sampleDBName", '"b" is not the source; InPlace needs "a"'],
  [
    { destination: { type: "New", sampleDBName: "b", overrides: { nodeSelector: { "a b": "x" } } } },
    "spec.destination.overrides.nodeSelector[a b]",
    '"a b" is not a key',
  ],
  [
    { source: { repository: { stanza: "uid-17-1", volumeClaimName: "a", sampleDBSpec: "FromOverrides" } } },
    "spec.destination.overrides.storage.size",
    "is needed with source.repository.sampleDBSpec: FromOverrides",
  ],
])("%j is refused", (fields, field, message) => {
  expect(check(fields)).toEqual([{ field, message: expect.stringContaining(message) }]);
});

test("a transaction of more than 64 bits is refused by the schema already", () => {
  const fields = { target: { type: "TransactionID", transactionID: "18446744073709551616" } };
  expect(() => check(fields)).toThrow("at most 18446744073709551615");
});

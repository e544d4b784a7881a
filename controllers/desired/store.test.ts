import { expect, test } from "vitest";
import { sampleDB } from "./sampledb.fixture.ts";
import { type Archived, isInRepositoryOf, toldPlaceOf } from "./store.ts";

const [uid, earlier] = ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"];
const s3 = { endpoint: "https://s3.example.com", bucket: "backups", region: "eu", credentialsSecretName: "keys", prefix: "team" };
const at = (repository: object, itsUid = uid) => sampleDB({ backup: { repository } as object }, { uid: itsUid }) as Archived;
const told = (db: Archived) => ({ stanza: `${db.metadata.uid}-17-1`, ...toldPlaceOf(db) });

test.each<[string, Archived, boolean]>([
  ["in the same bucket and folder", at({ s3 }), true],
  ["in the folder of an earlier SampleDB of the name, in the same bucket", at({ s3 }, earlier), true],
  ["in another bucket", at({ s3: { ...s3, bucket: "old" } }), false],
  ["in a bucket of the same name at another endpoint", at({ s3: { ...s3, endpoint: "https://old.example.com" } }), false],
  ["under another prefix", at({ s3: { ...s3, prefix: "other" } }), false],
  ["on a volume", at({ volume: {} }), false],
])("what lies %s is in the present repository, or not", (_, db, isIn) => expect(isInRepositoryOf(at({ s3 }), told(db))).toBe(isIn));

test("what tells no place, as a Backup that has not begun, is in the present repository", () => {
  expect(isInRepositoryOf(at({ s3 }), undefined)).toBe(true);
});

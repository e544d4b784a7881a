import { expect, test } from "vitest";
import { apiVersion } from "../../api/version.ts";
import { cacheOf } from "../cache.fixture.ts";
import type { Backup } from "../kinds/sampledb-io.ts";
import { backupOperation, CachedPermits } from "./cached-permits.ts";

test("one whose Job can't be made holds the last place no longer than it tries", async () => {
  const backup = (namespace: string, name: string): Backup => ({
    apiVersion,
    kind: "Backup",
    metadata: { namespace, name, uid: name },
    spec: { sampleDBName: "orders", type: "Full", deletionPolicy: "Retain" },
  });
  const refused = backup("shop", "refused");
  const other = backup("bank", "other");
  const cache = cacheOf(refused, other);
  const permits = new CachedPermits(cache, { backups: 1, restores: 1, perStore: 1 }, () => new Date("2026-05-04T12:00:00Z"));
  const ask = async (object: Backup) => (await permits.ask(backupOperation(cache, object))).granted;
  expect(await ask(refused)).toBe(true);
  expect(await ask(other)).toBe(false);
  permits.giveBack(refused.metadata.uid ?? "");
  expect(await ask(other)).toBe(true);
});

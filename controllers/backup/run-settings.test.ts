// What the Job of a Backup tells pgBackRest.
import { expect, test } from "vitest";
import { backupConfig, longestRunSeconds } from "../desired/backup.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { Archived } from "../desired/store.ts";
import { backup } from "./backup.fixture.ts";

test("a backup waits for its last segment while the repository's Pod is restarted or moved, and far less than its Job may last", () => {
  const db = sampleDB({ backup: {} }) as Archived;
  const run = { task: "adopt", stanza: "uid-17-1", uid: "uid", operator: "shop/orders/operator" } as const;
  const { data } = backupConfig(backup("night"), db, run, "[global]\n[uid-17-1]\n");
  const seconds = Number(/^archive-timeout=(\d+)$/m.exec(data?.["pgbackrest.conf"] ?? "")?.[1]);
  expect(seconds).toBeGreaterThan(120); // a Pod of a lost node is elsewhere within two minutes
  expect(seconds).toBeLessThan(longestRunSeconds / 100);
});

// Retention on a real database: the older backups and their log are gone from the list and from the repository, and the newest restores.
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { BackedUpDatabase } from "../database/backed-up-database.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { isLocal, suiteNamespace } from "./test-cluster.ts";

const minutes = 60_000;

describe.runIf(isLocal)("retention", () => {
  deployedOperator();
  const namespace = suiteNamespace("retention");
  let orders: BackedUpDatabase;

  beforeAll(async () => {
    orders = await BackedUpDatabase.apply(namespace, "orders", { retention: { fullBackupCount: 1 } });
  }, 5 * minutes);

  test("keeps the newest of three, with its log, and that one gives every row back", { timeout: 8 * minutes }, async () => {
    const firstWAL: (string | undefined)[] = [];
    for (const name of ["first", "second", "third"]) {
      await orders.write(100);
      firstWAL.push((await orders.backUp(name)).firstWAL);
    }
    await eventually("the older two are gone from the list", 2 * minutes, async () => (await orders.backups()).join() === "third");
    expect(await orders.labels()).toEqual([(await orders.statusOf("third"))?.label]);
    const segments = await orders.segments();
    expect(segments[0]).toBe(firstWAL[2]);
    expect(segments).not.toContain(firstWAL[0]);

    await orders.write(50);
    expect(await orders.restoredRows("copy", { backupName: "third" })).toBe(350);
  });
});

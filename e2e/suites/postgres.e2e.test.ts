// Our image under Patroni on the real cluster: it elects a primary, replicates, and survives the loss of it.
import { beforeAll, expect, test } from "vitest";
import { postgresImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { eventually } from "../../tools/eventually.ts";
import { allReady, applyBarePatroni, instances, killPrimary, primaries, query } from "../database/bare-patroni.ts";
import { schedulableNodes, suiteNamespace } from "./test-cluster.ts";

const namespace = suiteNamespace("postgres");

beforeAll(async () => {
  await applyBarePatroni(namespace, imageReference(postgresImage("17")));
  await allReady(namespace);
});

test("one of three is elected, and they are spread over nodes", async () => {
  expect(
    await eventually("a primary is elected", 60_000, async () => (await primaries(namespace)).length === 1 && primaries(namespace)),
  ).toHaveLength(1);
  const pods = await namespace.list("pods", "--selector=app=bare");
  expect(new Set(pods.map((pod) => pod["spec"].nodeName)).size).toBe(Math.min(instances.length, (await schedulableNodes()).length));
});

test("a row written through the Service is read on every replica", async () => {
  await query(namespace, "bare-0", "bare", "CREATE TABLE ledger (id int PRIMARY KEY); INSERT INTO ledger SELECT generate_series(1, 1000);");
  for (const pod of instances) {
    await eventually(
      `${pod} has the rows`,
      30_000,
      async () => (await query(namespace, pod, `${pod}.bare-pods`, "SELECT count(*) FROM ledger").catch(() => "")) === "1000",
    );
  }
  expect(await query(namespace, "bare-0", "bare-ro", "SELECT pg_is_in_recovery(), count(*) FROM ledger")).toBe("t|1000");
});

test("writes come back after the primary was killed, with every acknowledged row", async () => {
  const [old = ""] = await primaries(namespace);
  const [survivor = ""] = instances.filter((name) => name !== old);
  await query(namespace, survivor, "bare", "INSERT INTO ledger VALUES (1001)");
  await killPrimary(namespace, old, survivor, "INSERT INTO ledger VALUES (1002) ON CONFLICT DO NOTHING");
  await allReady(namespace);
  expect(await primaries(namespace)).toHaveLength(1);
  expect(await query(namespace, survivor, "bare", "SELECT count(*) FROM ledger")).toBe("1002");
});

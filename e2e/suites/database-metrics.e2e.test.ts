// What Prometheus would scrape: PostgreSQL's own metrics and the disk's from each Pod, and what the operator tells of the database.
import { expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { Database, sampleDB } from "../database/database.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { operatorMetrics, parseSamples, type Samples } from "./operator-metrics.ts";
import { isLocal, kubectl, localCluster, suiteNamespace } from "./test-cluster.ts";

deployedOperator();
const scrapeOperator = operatorMetrics();
const namespace = suiteNamespace("database-metrics");
const gibibyte = 1 << 30;

async function scrape(database: Database, pod: string): Promise<Samples> {
  const { namespace: place } = (await database.get()).metadata;
  const path = `/api/v1/namespaces/${place}/pods/${pod}:9187/proxy/metrics`;
  return parseSamples(await kubectl.run("get", "--raw", path));
}

test("each Pod tells of its PostgreSQL and its disk, and the operator of the database, until it is deleted", {
  timeout: 600_000,
}, async () => {
  const database = await Database.apply(namespace, sampleDB({ name: "measured", replicas: 2, deletionPolicy: "Delete" }));
  await database.waitReady();
  const primary = await database.primary();

  for (const pod of await database.instances()) {
    const samples = await eventually(`${pod} is up`, 60_000, async () => {
      const found = await scrape(database, pod);
      return found["pg_up"] === 1 && found;
    });
    expect(samples["pg_exporter_last_scrape_error"]).toBe(0);
    expect(samples["pg_replication_is_replica"]).toBe(pod === primary ? 0 : 1);
    expect(samples['pg_database_size_bytes{datname="app"}']).toBeGreaterThan(1_000_000);
    expect(samples["sampledb_volume_size_bytes"]).toBeGreaterThan(0.8 * gibibyte);
    expect(samples["sampledb_volume_size_bytes"]).toBeLessThanOrEqual(gibibyte);
    expect(samples["sampledb_volume_available_bytes"]).toBeLessThan(samples["sampledb_volume_size_bytes"] ?? 0);
  }

  const of = `{namespace="${(await database.get()).metadata.namespace}",name="measured"}`;
  const told = await scrapeOperator();
  expect(told).toMatchObject({
    [`sampledb_replicas_wanted${of}`]: 2,
    [`sampledb_replicas_ready${of}`]: 2,
    [`sampledb_ready${of}`]: 1,
    [`sampledb_primary_available${of}`]: 1,
    sampledb_time_to_ready_seconds_count: 1,
  });
  expect(told[`sampledb_replication_lag_bytes${of}`]).toBeLessThan(1 << 24);
  const days = ((told[`sampledb_certificate_expiry_timestamp_seconds${of}`] ?? 0) - Date.now() / 1000) / 86_400;
  expect(days).toBeGreaterThan(14);

  const changes = told[`sampledb_primary_changes_total${of}`] ?? Number.NaN;
  const heir = await database.someReplica();
  await database.switchOver(heir);
  expect((await scrapeOperator())[`sampledb_primary_changes_total${of}`]).toBeGreaterThan(changes);

  if (isLocal) {
    // While PostgreSQL is away the disk is told, and who tells it stays.
    const pods = await database.pods();
    const exporter = (pod: (typeof pods)[number] | undefined) =>
      pod?.["status"].containerStatuses.find(({ name }: { name: string }) => name === "exporter");
    await killContainer(localCluster(), await findContainer(namespace, heir));
    const away = await eventually("PostgreSQL is away", 30_000, async () => {
      const found = await scrape(database, heir);
      return found["pg_up"] === 0 && found;
    });
    expect(away["sampledb_volume_available_bytes"]).toBeGreaterThan(0);
    await eventually(`${heir} is up again`, 120_000, async () => (await scrape(database, heir))["pg_up"] === 1);
    const before = exporter(pods.find((pod) => pod["metadata"].name === heir));
    expect(exporter(await namespace.get("pod", heir))?.containerID).toBe(before?.containerID);
    expect((await namespace.run("exec", heir, "--container=exporter", "--", "cat", "/proc/1/comm")).trim()).toBe("tini"); // see docs/images.md
  }

  await namespace.run("delete", "sampledb", "measured", "--timeout=180s", "--request-timeout=0");
  expect(Object.keys(await scrapeOperator()).filter((name) => name.includes(of))).toEqual([]);
});

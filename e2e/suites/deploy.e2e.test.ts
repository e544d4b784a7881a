// make deploy as a user runs it: the operator for a whole cluster, with webhooks whose certificates nobody had to make.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type SampleDB, sampledbs } from "../../controllers/kinds/sampledb-io.ts";
import { keyOf } from "../../runtime/kube/object.ts";
import { TestConnection } from "../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { isReady } from "../cluster/status.ts";
import { deployedOperator, operator, system } from "./deployed-operator.ts";
import { kubectl, suiteNamespace } from "./test-cluster.ts";

deployedOperator();
const namespace = suiteNamespace("deployed");

const sample = (name: string) => readFileSync(join(projectDirectory, `config/samples/${name}.yaml`), "utf8");

test("what the CRDs can't refuse is refused by the webhooks, with the field and what is allowed", async () => {
  await eventually("a good SampleDB is let through", 60_000, () =>
    namespace.apply(sample("sampledb_minimal")).then(
      () => true,
      () => false,
    ),
  );
  const bad = sample("sampledb_minimal").replace(/^ {2}name: .*$/m, "  name: bad");
  const parameters = "  postgresql:\n    parameters:\n      wrok_mem: 4MB\n";
  await expect(namespace.apply(`${bad.trimEnd()}\n${parameters}`)).rejects.toThrow(/spec\.postgresql\.parameters\[wrok_mem\]/);
});

test("it acts in every namespace, with the rights that it has and no more", async () => {
  await namespace.apply(sample("backup_full"));
  const reason = await eventually("the Backup has a condition", 60_000, async () => {
    const backup = await namespace.get("backups.sampledb.io", "with-backups-full");
    return backup?.["status"]?.conditions?.[0]?.reason as string | undefined;
  });
  expect(reason).toBe("DatabaseMissing");
  const account = "--as=system:serviceaccount:sampledb-system:sampledb-operator";
  const may = async (...what: string[]) => (await kubectl.run("auth", "can-i", ...what, account).catch(() => "no")).trim();
  expect(await may("list", "secrets", "--all-namespaces")).toBe("no");
  expect(await may("create", "pods", "--all-namespaces")).toBe("no");
  expect(await may("get", "secrets/sampledb-webhook-certificate", "--namespace=sampledb-system")).toBe("yes");
});

test("its metrics are for those who may read them", async () => {
  // The API server's proxy does not pass on who asks.
  const path = "/api/v1/namespaces/sampledb-system/services/https:sampledb-metrics:8443/proxy/metrics";
  await expect(kubectl.run("get", "--raw", path)).rejects.toThrow(/Unauthorized|provide credentials/);
});

test("a rollout changes the leader and refuses nobody", async () => {
  const begun = new Date().toISOString();
  const { client, transport } = new TestConnection(kubectl.kubeconfig);
  const [database] = (await client.list(sampledbs)).items;
  const key = keyOf(database as SampleDB);
  const refused: string[] = [];
  let [writes, over] = [0, false];
  const write = async () => {
    while (!over) {
      const parameters = { max_connections: 100 + (writes++ % 900) };
      await client
        .mergePatch(sampledbs, key, { spec: { paused: true, postgresql: { parameters } } }) // it is about admission alone
        .catch((error: Error) => refused.push(error.message));
      await sleep(10);
    }
  };
  const writers = [write(), write(), write()];
  await system.run("rollout", "restart", "deployment/sampledb-operator");
  await eventually("the rollout is over", 180_000, async () => {
    const pods = await system.list("pods");
    return pods.length === 2 && pods.every((pod) => pod["metadata"].creationTimestamp > begun && isReady(pod));
  });
  over = true;
  await Promise.all(writers);
  await transport.close();
  expect(refused).toEqual([]);
  expect(writes).toBeGreaterThan(50);
});

test("a database is kept from being deleted unawares, with the operator and after it", async () => {
  const [{ metadata }] = (await namespace.list("sampledbs.sampledb.io")) as [SampleDB];
  const protect = (deletionProtection: boolean) =>
    namespace.run("patch", "sampledb", metadata.name, "--type=merge", `--patch=${JSON.stringify({ spec: { deletionProtection } })}`);
  const refused = async () => {
    await expect(namespace.run("delete", "sampledb", metadata.name)).rejects.toThrow(/is protected: set spec\.deletionProtection to false/);
    await expect(kubectl.run("delete", "namespace", metadata.namespace ?? "")).rejects.toThrow(
      /holds SampleDBs whose data would go with it/,
    );
  };
  await protect(true);
  await refused();
  await operator.make("undeploy");
  await refused();
  await operator.make("deploy"); // without it the finalizer would wait
  await operator.ready();
});

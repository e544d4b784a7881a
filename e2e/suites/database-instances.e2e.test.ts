// What becomes of single instances of a highly available database: gone astray, killed while they are made, replaced on a person's word.
import { beforeAll, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { Database, sampleDB, whyNotReady } from "../database/database.ts";
import { findContainer, killContainer, leaveHistory, runningContainers } from "../database/faults.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { isLocal, localCluster, suiteNamespace } from "./test-cluster.ts";
import { watchedDatabase } from "./watched-database.ts";

deployedOperator();
const namespace = suiteNamespace("database-instances");
const watched = watchedDatabase(namespace);
let database: Database;

beforeAll(() => {
  ({ database } = watched());
});

/** Resolves once this replica streams from the primary, with nothing of a history of its own. */
async function followsAgain(replica: string): Promise<void> {
  await eventuallySucceeds(`${replica} follows the primary again`, 180_000, async () => {
    const inRecovery = "SELECT to_regclass('astray') IS NULL AND pg_is_in_recovery()";
    expect(await database.sql(inRecovery, { superuser: true, pod: replica, databaseName: "postgres" })).toBe("t");
    const state = `SELECT state FROM pg_stat_replication WHERE application_name = '${replica}'`;
    expect(await database.sql(state, { superuser: true })).toBe("streaming");
  });
}

/** When the data directory was made: pg_rewind leaves this file alone, a new copy has a new one. */
const bornAt = (pod: string) => database.shell(pod, "stat --format=%W.%i /var/lib/postgresql/data/PG_VERSION");

test("a replica that has left the primary's history comes back by itself; where going back was cut short before, it is copied anew", async () => {
  const stray = await database.someReplica();
  const born = await bornAt(stray);
  await database.shell(stray, leaveHistory);
  await followsAgain(stray);
  expect(await bornAt(stray)).toBe(born);

  await database.shell(stray, `touch /var/lib/postgresql/rewinding && ${leaveHistory}`);
  await followsAgain(stray);
  expect(await bornAt(stray)).not.toBe(born);
  expect(await database.shell(stray, "ls /var/lib/postgresql")).toBe("data\nserver.lock");
});

test.runIf(isLocal)(
  "a database whose first instance is killed while it is made is made all the same, and from its first moment commits wait",
  async () => {
    const newborn = await Database.apply(namespace, sampleDB({ name: "newborn", replicas: 2, synchronousReplication: "Required" }));
    await eventually("somebody is at it", 120_000, async () => {
      return (await namespace.get("configmap", "newborn-config"))?.["metadata"].annotations?.initialize === "";
    });
    // Whoever it is: the other one may not even have been started, and is not at it then.
    const victims = await eventually("who is at it runs", 30_000, async () => {
      const found = await runningContainers(namespace, await newborn.instances());
      return found.length > 0 && found;
    });
    for (const victim of victims) await killContainer(localCluster(), victim);
    const waitsFor = () => newborn.sql("SHOW synchronous_standby_names", { superuser: true, databaseName: "postgres" });
    const names: string[] = [];
    await eventuallySucceeds("newborn is Ready", 180_000, async () => {
      names.push(
        ...(await waitsFor().then(
          (name) => [name],
          () => [],
        )),
      ); // whoever has the primary's label is asked
      expect(whyNotReady(await newborn.get())).toBeUndefined();
    });
    expect(names.length).toBeGreaterThan(0);
    expect(names).not.toContain("");
    expect(await newborn.sql("SELECT count(*) FROM pg_roles WHERE rolreplication AND rolname = 'replication'", { superuser: true })).toBe(
      "1",
    );
  },
);

test.runIf(isLocal)("a replica that was killed while it was copied begins anew", async () => {
  const replica = await database.someReplica();
  const born = await bornAt(replica);
  await database.shell(replica, "touch /var/lib/postgresql/copying && rm /var/lib/postgresql/data/postmaster.opts"); // a copy has none
  await killContainer(localCluster(), await findContainer(namespace, replica));
  await followsAgain(replica);
  expect(await bornAt(replica)).not.toBe(born);
});

test("a replica is made anew on a person's word: with an empty volume, and copied from the primary", async () => {
  const replica = await database.someReplica();
  const claims = async () => {
    const found = await namespace.list("pvc", "--selector=sampledb.io/name=orders");
    return Object.fromEntries(found.map(({ metadata }) => [metadata.name as string, metadata.uid as string]));
  };
  const { [`data-${replica}`]: former, ...others } = await claims();
  await namespace.run("annotate", "sampledb", "orders", `sampledb.io/replace-instance=${replica}`);
  await eventually("the order is carried out", 120_000, async () => {
    return (await database.get()).metadata.annotations?.["sampledb.io/replace-instance"] === undefined;
  });
  await followsAgain(replica);
  const { [`data-${replica}`]: next, ...untouched } = await claims();
  expect(next).not.toBe(former);
  expect(untouched).toEqual(others);
});

test("an instance has its volume for itself", async () => {
  await expect(database.shell(await database.someReplica(), "flock --nonblock /var/lib/postgresql/server.lock true")).rejects.toThrow(
    /exit code 1\b/,
  );
});

test("an instance that is told to end while it starts does so, and is not killed three minutes later", async () => {
  const replica = await database.someReplica();
  const { uid } = (await namespace.get("pod", replica))?.["metadata"] ?? {};
  await namespace.run("delete", "pod", replica, "--wait=false");
  await eventually(`${replica} starts anew`, 60_000, async () => {
    const pod = await namespace.get("pod", replica);
    const statuses: { name: string; state: { running?: object } }[] = pod?.["status"].containerStatuses ?? [];
    return pod?.["metadata"].uid !== uid && statuses.some(({ name, state }) => name === "postgres" && state.running !== undefined);
  });
  await namespace.run("delete", "pod", replica, "--timeout=90s", "--request-timeout=0");
  await followsAgain(replica);
});

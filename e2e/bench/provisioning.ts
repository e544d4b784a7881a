// How long a database takes from its manifest to the first SQL of an application, and to three ready instances.
import { eventually } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { sampleDB } from "../database/database.ts";
import { startPods, toolbox } from "../suites/toolbox.ts";
import { deleteNamespace, makeNamespace } from "./bench-cluster.ts";
import { byHand } from "./by-hand.ts";

export interface Provisioned {
  readonly firstSql: number;
  readonly threeReady: number;
}

const name = "bench";
const deadline = ["--timeout=240s", "--request-timeout=0"];
export const asynchronous = sampleDB({ name, replicas: 3, deletionPolicy: "Delete" });
export const synchronous = sampleDB({ name, replicas: 3, synchronousReplication: "Required", deletionPolicy: "Delete" });

/** One after the other, each in a namespace that is gone before the next begins. */
export async function provision(kubectl: Kubectl, who: "operator" | "hand", database: typeof synchronous): Promise<Provisioned> {
  const namespace = `bench-${who}`;
  const here = await makeNamespace(kubectl, namespace);
  await startPods(here, toolbox("client"));
  const manifest = who === "operator" ? JSON.stringify(database) : await byHand(database, namespace, "first");
  const begin = performance.now();
  const since = () => (performance.now() - begin) / 1000;
  await here.apply(manifest);
  const [firstSql, threeReady] = await Promise.all([answersSql(here, name).then(since), allReady(here).then(since)]);
  await remove(here, who);
  await deleteNamespace(kubectl, namespace);
  return { firstSql, threeReady };
}

/** By hand without mercy: all at once, each would wait for the others until its grace period is over. */
export async function remove(here: Kubectl, who: "operator" | "hand"): Promise<void> {
  if (who === "operator") return void (await here.run("delete", "sampledb", name, ...deadline));
  await here.run("delete", "statefulset", name, "--cascade=orphan", ...deadline);
  await here.run("delete", "pods", "--all", "--grace-period=0", "--force", ...deadline);
}

/** As an application: its own role, its own database, the read-write Service. By address, so that no name server's memory counts. */
export async function answersSql(here: Kubectl, database: string): Promise<void> {
  const secret = await eventually("the Secret is there", 60_000, () => here.get("secret", `${database}-app`));
  const service = await eventually("the Service is there", 60_000, () => here.get("service", `${database}-rw`));
  const value = (key: string) => Buffer.from(secret["data"][key] ?? "", "base64").toString();
  const host = service["spec"].clusterIP as string;
  const connection = `host=${host} user=${value("user")} dbname=${value("dbname")} sslmode=require connect_timeout=2`;
  const ask = `psql '${connection}' --no-psqlrc --quiet --tuples-only --command='SELECT 1'`;
  const script = `export PGPASSWORD='${value("password")}'; until ${ask} >/dev/null 2>&1; do sleep 0.05; done`;
  await here.run("exec", "client", "--request-timeout=240s", "--", "sh", "-c", script);
}

async function allReady(here: Kubectl): Promise<void> {
  await eventually("the StatefulSet is there", 60_000, () => here.get("statefulset", name));
  await here.run("wait", "--for=jsonpath={.status.readyReplicas}=3", `statefulset/${name}`, ...deadline);
}

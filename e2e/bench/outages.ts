// How long writes stand still when something breaks or is changed, by a ledger of acknowledged rows; ours and the peer's at once.
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import type { Kubectl, KubernetesObject } from "../cluster/kubectl.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import { isReady } from "../cluster/status.ts";
import { Database } from "../database/database.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { Ledger, type Report } from "../database/ledger.ts";

const minute = 60_000;

/** A database of three with its ledger; made by the operator, or by hand. */
export class Contender {
  readonly who: "operator" | "hand";
  readonly database: Database;
  readonly #kubectl: Kubectl;
  readonly #ledger: Ledger;

  private constructor(who: Contender["who"], kubectl: Kubectl, database: Database, ledger: Ledger) {
    this.who = who;
    this.database = database;
    this.#kubectl = kubectl;
    this.#ledger = ledger;
  }

  /** The ledger writes from a node that is never cut off. */
  static async start(who: Contender["who"], kubectl: Kubectl, name: string, node?: string): Promise<Contender> {
    const ledger = await Ledger.start(kubectl, { database: name, deadlineMs: 4 * minute, ...(node === undefined ? {} : { node }) });
    const contender = new Contender(who, kubectl, new Database(kubectl, name), ledger);
    await contender.whole();
    return contender;
  }

  /** Three ready instances, one of which takes writes, and the others follow and may take its place. */
  async whole(): Promise<void> {
    await eventuallySucceeds(`${this.who}: three instances are whole`, 4 * minute, async () => {
      const pods = await this.database.pods();
      await this.database.primary(); // fails where it is not one
      const following = pods.filter(({ metadata }) => JSON.parse(metadata.annotations?.status ?? "{}").replication_state === "streaming");
      const heirs = await this.database.heirs();
      const found = [pods.filter(isReady).length, following.length, heirs.length];
      if (found.join() !== "3,2,2") throw new Error(`ready, following and heirs are ${found.join(", ")}`);
    });
    if (this.who === "operator") await this.database.waitReady(4 * minute);
    await this.#ledger.acknowledges({ rows: 10, deadlineMs: minute });
  }

  async report(): Promise<Report> {
    return await this.#ledger.report();
  }

  /** The longest since then, in seconds, once another server, or the same one started anew, takes rows. */
  async outageSince(before: Report): Promise<number> {
    const otherThan = before.last?.server;
    if (!otherThan) throw new Error("nothing was acknowledged before");
    await this.#ledger.acknowledges({ rows: 25, deadlineMs: 3 * minute, since: before, otherThan });
    return await this.longestSince(before);
  }

  async longestSince({ now }: Report): Promise<number> {
    return Math.max(0, ...(await this.#ledger.outagesSince(now)).map(({ milliseconds }) => milliseconds)) / 1000;
  }

  async lost(): Promise<number> {
    return (await this.#ledger.verify()).lost;
  }

  /** By annotation: the operator's on the SampleDB, and Patroni's on its own object. */
  async switchTo(pod: string): Promise<void> {
    const { name } = this.database;
    const from = await this.database.primary();
    if (from === pod) return;
    const order =
      this.who === "operator"
        ? ["sampledb", name, `sampledb.io/switchover=${pod}`]
        : ["configmap", `${name}-failover`, `leader=${from}`, `member=${pod}`];
    await this.#kubectl.run("annotate", "--overwrite", ...order);
    await eventually(`${pod} is primary`, 2 * minute, async () => (await this.database.primary().catch(() => "")) === pod);
  }

  /** What the server that takes writes has logged in this container. */
  async primaryLog(): Promise<string> {
    return await this.#kubectl.run("logs", await this.database.primary(), "--container=postgres", "--tail=-1");
  }

  async podOn(node: string): Promise<string> {
    const pod = (await this.database.pods()).find(({ spec }: KubernetesObject) => spec.nodeName === node);
    if (!pod) throw new Error(`${this.who}: no instance is on ${node}`);
    return pod["metadata"].name as string;
  }

  async deletePrimary(): Promise<void> {
    await this.#kubectl.run("delete", "pod", await this.database.primary(), "--wait=false");
  }

  async killPrimary(cluster: LocalCluster): Promise<void> {
    await killContainer(cluster, await findContainer(this.#kubectl, await this.database.primary()));
  }
}

/** What one fault did to it; whole before and after. */
export async function outage(contender: Contender, what: string, fault: (contender: Contender) => Promise<void>): Promise<number> {
  await contender.whole();
  const before = await contender.report();
  await fault(contender);
  const seconds = await contender.outageSince(before);
  say(`${contender.who}: ${what}: ${seconds.toFixed(2)} s without writes`);
  await contender.whole();
  return seconds;
}

/** The node with the primaries of both is cut off, until others serve. */
export async function nodeOutages(cluster: LocalCluster, contenders: readonly Contender[], node: string): Promise<number[]> {
  for (const contender of contenders) {
    await contender.switchTo(await contender.podOn(node));
    await contender.whole();
  }
  const before = await Promise.all(contenders.map((contender) => contender.report()));
  await cluster.cutNetwork(node);
  try {
    return await Promise.all(contenders.map((contender, index) => contender.outageSince(before[index] as Report)));
  } finally {
    await cluster.joinNetwork(node);
    for (const contender of contenders) await contender.whole();
  }
}

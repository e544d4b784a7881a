// Three instances that lose no commit, with a ledger, for the length of a suite: whole again after each of its tests.
import { afterEach, beforeAll, expect } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, lastServer, nothingLost } from "../database/ledger.ts";
import { schedulableNodes } from "./test-cluster.ts";

type MoreSpec = Omit<Parameters<typeof sampleDB>[0], "name">;

export class WatchedDatabase {
  readonly database: Database;
  readonly ledger: Ledger;
  /** Not to be cut off or drained of it. */
  readonly ledgerNode: string;

  private constructor(database: Database, ledger: Ledger, ledgerNode: string) {
    this.database = database;
    this.ledger = ledger;
    this.ledgerNode = ledgerNode;
  }

  static async start(namespace: Kubectl, spec: MoreSpec): Promise<WatchedDatabase> {
    const [node = ""] = await schedulableNodes();
    const manifest = sampleDB({ name: "orders", replicas: 3, synchronousReplication: "Required", ...spec });
    const database = await Database.apply(namespace, manifest);
    const ledger = await Ledger.start(namespace, { database: "orders", node, deadlineMs: 240_000 });
    await database.waitReady();
    return new WatchedDatabase(database, ledger, node);
  }

  /** Resolves once another instance takes the writes. */
  async handOver(): Promise<void> {
    const before = await this.ledger.report();
    await this.database.switchOver(await this.database.someReplica());
    await this.ledger.acknowledges({ rows: 10, deadlineMs: 120_000, since: before, otherThan: lastServer(before) });
  }

  /** Every instance follows one primary, and every acknowledged row is there. */
  async whole(): Promise<void> {
    await this.ledger.acknowledges({ rows: 10, deadlineMs: 60_000 });
    // By asking the primary: what Kubernetes knows of a node that was lost is from before for up to 50 s, and looks well.
    await eventually("every replica follows the primary", 180_000, async () => {
      const followers = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
      return (await this.database.sql(followers, { superuser: true }).catch(() => undefined)) === "2";
    });
    await this.database.waitReady();
    expect(await this.ledger.verify()).toMatchObject(nothingLost);
    expect(await this.database.writable()).toHaveLength(1);
  }
}

/** Called while a suite's file is loaded; what it returns is for its tests. `more` is asked when the database is made. */
export function watchedDatabase(namespace: Kubectl, more: () => Promise<MoreSpec> = async () => ({})): () => WatchedDatabase {
  let watched: WatchedDatabase;
  beforeAll(async () => {
    watched = await WatchedDatabase.start(namespace, await more());
  });
  afterEach(() => watched.whole());
  return () => watched;
}

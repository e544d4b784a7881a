// How long writes stand still, and how long a promotion takes, beside a database that does not archive; with the store alive and dead.
import { eventually } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import { Archive } from "../database/archive.ts";
import type { Database } from "../database/database.ts";
import type { S3Store } from "../store/s3-store.ts";
import { type Figure, median } from "./figures.ts";
import { type Contender, nodeOutages, outage } from "./outages.ts";
import { promotionSeconds } from "./promotion.ts";

export interface Pair {
  readonly archived: Contender;
  readonly plain: Contender;
  readonly store: S3Store;
  readonly namespace: Kubectl;
}

export async function outages({ archived, plain, store, namespace }: Pair, rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const state of ["alive", "dead"] as const) {
    await store.fault(state === "dead" ? "dead" : undefined);
    if (state === "dead") await segmentsWait(new Archive(namespace, archived.database), archived.database, 1);
    const promotions: { archived: number[]; plain: number[] } = { archived: [], plain: [] };
    const measure = async (what: string, most: number, fault: (contender: Contender) => Promise<void>) => {
      const measured: { archived: number[]; plain: number[] } = { archived: [], plain: [] };
      for (let round = 0; round < rounds; round++) {
        for (const [who, contender] of [["archived", archived] as const, ["plain", plain] as const]) {
          measured[who].push(await outage(contender, what, fault));
          promotions[who].push(promotionSeconds(await contender.primaryLog()));
        }
      }
      figures.push({ what, unit: "s", ours: median(measured.archived), peer: median(measured.plain), wanted: { most } });
    };
    await measure(`switchover, the store ${state}`, 2, async (contender) => contender.switchTo(await contender.database.someReplica()));
    await measure(`Pod of the primary deleted, the store ${state}`, 2.5, (contender) => contender.deletePrimary());
    say(`promotions: ${shown(promotions.archived)} s, without archiving ${shown(promotions.plain)} s`);
    figures.push({
      ...{ what: `of these, the promotion, the store ${state}`, unit: "s" },
      ...{ ours: median(promotions.archived), peer: median(promotions.plain), wanted: { mostAbovePeer: 0.1 } },
    });
  }
  await store.fault(undefined);
  await new Archive(namespace, archived.database).complete({ begin: 1, deadlineMs: 300_000 });
  return figures;
}

const shown = (seconds: readonly number[]) => seconds.map((each) => each.toFixed(2)).join(", ");

/** The node of both primaries, which also has the repository's Pod. How soon it is noticed depends on Patroni's loop, by seconds. */
export async function nodeLost({ archived, plain, namespace }: Pair, local: LocalCluster, rounds: number): Promise<Figure> {
  const archive = new Archive(namespace, archived.database);
  const node = await archived.database.nodeOf(await archive.pod());
  const [ours, peer]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const [mine = Number.NaN, theirs = Number.NaN] = await nodeOutages(local, [archived, plain], node);
    say(`node lost: ${mine.toFixed(1)} s without writes, without archiving ${theirs.toFixed(1)} s`);
    ours.push(mine);
    peer.push(theirs);
  }
  await archive.complete({ begin: 1, deadlineMs: 300_000 });
  const what = "node of the primary and of the repository lost";
  return { what, unit: "s", ours: median(ours), peer: median(peer), wanted: { mostTimesPeer: 1.1 } };
}

export async function segmentsWait(archive: Archive, database: Database, count: number): Promise<void> {
  await eventually(`${count} segments wait`, 240_000, async () => {
    if ((await archive.waiting()).length >= count) return true;
    await database.sql(
      `CREATE TABLE IF NOT EXISTS noise (text text STORAGE EXTERNAL);
       INSERT INTO noise SELECT string_agg(gen_random_uuid()::text, '') FROM generate_series(1, 400000) AS n GROUP BY n % 1000`,
    );
    await database.sql("SELECT pg_switch_wal()", { superuser: true });
    return false;
  });
}

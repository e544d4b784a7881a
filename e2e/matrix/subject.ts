// The database that a part of the matrix works on, with its ledger and a census, and what must hold after each cell.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { Census } from "./census.ts";
import type { Change } from "./changes.ts";

const minutes = 60_000;
/** Made for a while: what a change is tried with. */
const trial = /^(Job|Pod|ConfigMap) .*-trial$/;

export class Subject {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly census: Census;
  readonly #mostWritable: number[] = [];

  private constructor(database: Database, ledger: Ledger, census: Census) {
    this.database = database;
    this.ledger = ledger;
    this.census = census;
  }

  static async start(kubectl: Kubectl, namespace: string, spec: Parameters<typeof sampleDB>[0], node?: string): Promise<Subject> {
    const { name } = spec;
    const database = await Database.apply(kubectl, sampleDB(spec));
    const where = node === undefined ? {} : { node };
    const ledger = await Ledger.start(kubectl, { database: name, name: `${name}-ledger`, deadlineMs: 5 * minutes, ...where });
    await database.waitReady(5 * minutes);
    const job = `${name}-init`;
    await eventually(`Job ${job} is gone`, minutes, async () => {
      const pods = await kubectl.list("pods", `--selector=batch.kubernetes.io/job-name=${job}`);
      return pods.length === 0 && (await kubectl.get("job", job)) === undefined;
    });
    return new Subject(database, ledger, await Census.start(kubectl.kubeconfig, namespace, name));
  }

  /** While something is under way: how many take writes is looked at again and again. */
  async watchingWriters<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    over.catch(() => undefined);
    while (!isOver) {
      this.#mostWritable.push((await this.database.writable().catch(() => [])).length);
      await sleep(1000);
    }
    return await over;
  }

  /** Every acknowledged row is there, one instance takes writes, and there were never two. */
  async sound(): Promise<void> {
    await this.ledger.acknowledges({ rows: 10, deadlineMs: 3 * minutes });
    expect(await this.ledger.verify()).toMatchObject(nothingLost);
    expect(await this.database.writable()).toHaveLength(1);
    expect(Math.max(0, ...this.#mostWritable)).toBeLessThanOrEqual(1);
    this.#mostWritable.length = 0;
  }

  /** Nothing was created or deleted that the change does not need. `times`: how often it was begun. */
  frugal({ podsAnew, comesOrGoes = [] }: Pick<Change, "podsAnew" | "comesOrGoes">, times = 1): void {
    const births = this.census.births();
    const tooMany = Object.entries(births).filter(([what, { created, deleted }]) => {
      if (trial.test(what)) return created > times; // the one of the change before may still be going
      const [, kind, ordinal] = /^(Pod|PersistentVolumeClaim) .*-(\d+)$/.exec(what) ?? [];
      const comes = comesOrGoes.includes(Number(ordinal));
      if (kind === "Pod") return Math.max(created, deleted) > (comes ? 1 : podsAnew) * times;
      return created > (kind !== undefined && comes ? 1 : 0) || deleted > 0; // an init Job too: a database is filled once in its life
    });
    expect(Object.fromEntries(tooMany), `of ${JSON.stringify(births)}`).toEqual({});
  }
}

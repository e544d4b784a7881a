// A database with a ledger while operators come and go: what has to stay as it was, and what an operator has to do for it.
import { expect } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { Database } from "./database.ts";
import { type Ledger, nothingLost } from "./ledger.ts";
import { runningIn } from "./running.ts";

const minutes = 60_000;

export class Vigil {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly #kubectl: Kubectl;
  readonly #before: object;

  private constructor(kubectl: Kubectl, database: Database, ledger: Ledger, before: object) {
    this.#kubectl = kubectl;
    this.database = database;
    this.ledger = ledger;
    this.#before = before;
  }

  /** From now on nothing may be restarted: call it when every replica is fit to take over. The Kubectl is one for the database's namespace. */
  static async begin(kubectl: Kubectl, database: Database, ledger: Ledger): Promise<Vigil> {
    const before = await stateOf(database);
    expect(before).toMatchObject({ deleted: undefined });
    return new Vigil(kubectl, database, ledger, before);
  }

  /** No acknowledged row is missing, the primary is the same, and no Pod, container or server is another one. */
  async undisturbed(rows = 50): Promise<void> {
    await this.ledger.acknowledges({ rows, deadlineMs: 2 * minutes });
    expect(await this.ledger.verify()).toMatchObject(nothingLost);
    expect(await stateOf(this.database)).toEqual(this.#before);
  }

  /** The operator of the moment carries out a change, a mistake is refused, and nothing is restarted: another image waits. */
  async lookedAfter(workMem: string, upToDate: "UpToDate" | "RestartPending"): Promise<void> {
    await this.database.change({ postgresql: { parameters: { work_mem: workMem } } });
    await this.database.waitReady(3 * minutes);
    for (const pod of await this.database.instances()) {
      expect(await this.database.sql("SHOW work_mem", { superuser: true, pod })).toBe(workMem);
    }
    await this.#refusesMistakes();
    await this.database.says("UpToDate", upToDate);
    await this.undisturbed();
  }

  /** The API server may learn of new webhooks a moment after their operator is ready, and lets everything through until then. */
  async #refusesMistakes(): Promise<void> {
    const mistake = JSON.stringify({ spec: { postgresql: { parameters: { wrok_mem: "4MB" } } } });
    const patch = ["patch", "sampledb", this.database.name, "--type=merge", `--patch=${mistake}`, "--dry-run=server"];
    await eventually("a mistake is refused", minutes, () =>
      this.#kubectl.run(...patch).then(
        () => false,
        (error: Error) => /spec\.postgresql\.parameters\[wrok_mem\]/.test(error.message),
      ),
    );
  }
}

/** A SampleDB whose kind was deleted serves on while a finalizer is left: its time of deletion tells. */
async function stateOf(database: Database): Promise<object> {
  const { uid, deletionTimestamp: deleted } = (await database.get()).metadata;
  return { uid, deleted, primary: await database.primary(), running: await runningIn(database) };
}

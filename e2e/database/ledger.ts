// A ledger of acknowledged writes: a Pod that writes to a database without a pause, and the questions that a test asks of it.
import { eventuallySucceeds } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { isSame, type Outage, type Report, type Server, type Verdict } from "./ledger-book.ts";
import { container, ledgerCommand, ledgerObjects } from "./ledger-pod.ts";
import type { Connections, Expected } from "./ledger-writer.ts";

export type { Outage, Report, Server, Verdict } from "./ledger-book.ts";
export type { Connections } from "./ledger-writer.ts";

/** What every verdict must say, whatever was done to the database; in a test's difference, which rows were lost, and whose they were. */
export const nothingLost = { lost: 0, firstLost: [], unexpected: 0, firstUnexpected: [] } as const satisfies Partial<Verdict>;

/** Who took the last row; fails where there is none. */
export function lastServer({ last }: Report): Server {
  if (!last) throw new Error("nothing was acknowledged yet");
  return last.server;
}

interface LedgerOptions {
  /** The database's name; its Secret is NAME-app. */
  readonly database: string;
  /** Where to write from. A drain refuses a node with a Pod of no controller on it: write from another one then. */
  readonly node?: string;
  /** For a second ledger in the same namespace; also names its table. */
  readonly name?: string;
  readonly secret?: string;
  readonly deadlineMs?: number;
}

interface Acknowledged {
  readonly rows: number;
  readonly deadlineMs: number;
  /** Rows after this report count; after now, when empty. */
  readonly since?: Report;
  /** Rows that this server took don't count. */
  readonly otherThan?: Server;
}

/** How long a question is repeated: through a restart of the API server, not through a cut that the test itself has made. */
const patienceMs = 60_000;

/** How long the Pod waits for rows before it reports without them: shorter than a request to the API server may last. */
const patienceInPodMs = 5000;

export class Ledger {
  readonly #kubectl: Kubectl;
  readonly #name: string;

  private constructor(kubectl: Kubectl, name: string) {
    this.#kubectl = kubectl;
    this.#name = name;
  }

  /** Resolves when the first rows are acknowledged. The Kubectl is one for the database's namespace. */
  static async start(kubectl: Kubectl, { database, node, name = "ledger", secret, deadlineMs = 120_000 }: LedgerOptions): Promise<Ledger> {
    const table = name.replaceAll("-", "_");
    const items = await ledgerObjects({ name, secret: secret ?? `${database}-app`, table, node });
    await kubectl.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    const ledger = new Ledger(kubectl, name);
    await eventuallySucceeds(`${name} writes to ${database}`, deadlineMs, async () => {
      const { acknowledged, errors } = await ledger.#ask<Report>("report");
      if (acknowledged === 0) throw new Error(errors.at(-1)?.why ?? "it has not tried yet");
    });
    return ledger;
  }

  /** Counts, servers, outages and the last errors since the start. */
  async report(): Promise<Report> {
    return await this.#patiently("report");
  }

  /** Reads every row back through the Service and compares with what was acknowledged. */
  async verify(): Promise<Verdict & { readonly server: Server }> {
    return await this.#patiently("verify");
  }

  /** Opens so many connections one after the other, through the read-write Service or to another host, and says who answered. */
  async connect(attempts: number, host?: string): Promise<Connections> {
    return await this.#patiently("connect", String(attempts), ...(host === undefined ? [] : [host]));
  }

  /** Outages that ended after this moment of the writer's clock (`report().now`), also one that lasts. */
  async outagesSince(moment: number): Promise<readonly Outage[]> {
    const { outages } = await this.report();
    return outages.filter(({ start, milliseconds }) => start + milliseconds > moment);
  }

  /** Resolves to the report once so many more rows are acknowledged, by another server where that is asked for. */
  async acknowledges({ rows, deadlineMs, since, otherThan }: Acknowledged): Promise<Report> {
    const counted = ({ servers }: Report) =>
      servers.filter((server) => !otherThan || !isSame(server, otherThan)).reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    const wanted = counted(since ?? (await this.report())) + rows;
    return await eventuallySucceeds(`${rows} more rows are acknowledged`, deadlineMs, async () => {
      const expected: Expected = { rows: wanted, milliseconds: patienceInPodMs, ...(otherThan ? { otherThan } : {}) };
      const report = await this.#ask<Report>("report", JSON.stringify(expected));
      const missing = wanted - counted(report);
      if (missing > 0) throw new Error(`${missing} are missing; the last error was ${report.errors.at(-1)?.why ?? "none"}`);
      return report;
    });
  }

  /** Takes Pod and book away; the table stays. */
  async stop(): Promise<void> {
    const objects = [`pod/${this.#name}`, `configmap/${this.#name}-program`];
    await this.#kubectl.run("delete", "--ignore-not-found", "--timeout=60s", "--request-timeout=0", ...objects);
  }

  async #patiently<T>(...words: string[]): Promise<T> {
    return await eventuallySucceeds(`${this.#name} answers ${words[0]}`, patienceMs, () => this.#ask<T>(...words));
  }

  async #ask<T>(...words: string[]): Promise<T> {
    return JSON.parse(await this.#kubectl.run("exec", this.#name, `--container=${container}`, "--", ...ledgerCommand(...words))) as T;
  }
}

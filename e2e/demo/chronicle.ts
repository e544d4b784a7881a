// What is told of the demo's steps: how long each took, and for how long nobody could write meanwhile.
import { say, seconds, step } from "../../tools/progress.ts";
import type { Ledger } from "../database/ledger.ts";

interface Entry {
  readonly title: string;
  readonly milliseconds: number;
  /** The longest time between two acknowledged rows; absent before rows are written. */
  readonly outageMilliseconds?: number;
}

/** What is shorter is no outage to the ledger: on a busy machine a row may take as long. */
const noticed = "< 0.5 s";

export class Chronicle {
  readonly #entries: Entry[] = [];
  #ledger: Ledger | undefined;

  /** From now on steps are told with their outages. */
  follow(ledger: Ledger): void {
    this.#ledger = ledger;
  }

  async step<T>(title: string, work: () => Promise<T>): Promise<T> {
    const ledger = this.#ledger;
    const before = await ledger?.report();
    const begin = performance.now();
    const result = await step(title, async () => {
      const value = await work();
      await ledger?.acknowledges({ rows: 1, deadlineMs: 60_000 }); // an outage has its end within its step
      return value;
    });
    const milliseconds = performance.now() - begin;
    if (!ledger || !before) {
      this.#entries.push({ title, milliseconds });
      return result;
    }
    const outages = await ledger.outagesSince(before.now);
    const outageMilliseconds = Math.max(0, ...outages.map((outage) => outage.milliseconds));
    if (outageMilliseconds > 0) say(`nobody could write for ${seconds(outageMilliseconds)}`);
    this.#entries.push({ title, milliseconds, outageMilliseconds });
    return result;
  }

  table(): string[] {
    return table(this.#entries);
  }
}

export function table(entries: readonly Entry[]): string[] {
  const row = (time: string, outage: string, title: string) => `${time.padStart(8)}  ${outage.padStart(9)}  ${title}`;
  return [
    row("time", "no writes", "step"),
    ...entries.map(({ title, milliseconds, outageMilliseconds }) => row(seconds(milliseconds), inWords(outageMilliseconds), title)),
  ];
}

function inWords(outageMilliseconds: number | undefined): string {
  if (outageMilliseconds === undefined) return "";
  return outageMilliseconds === 0 ? noticed : seconds(outageMilliseconds);
}

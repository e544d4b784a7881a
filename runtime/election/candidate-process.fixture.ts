// A candidate in a process of its own, for tests: it can be stopped, blocked and killed.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { CandidateEvent, CandidateSettings, Command } from "./candidate.fixture.ts";

type Told<Name> = Extract<CandidateEvent, { event: Name }> & { readonly at: number };

export class CandidateProcess {
  readonly #identity: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #told: Told<CandidateEvent["event"]>[] = [];
  readonly #closed = new AbortController();
  readonly #news = new EventEmitter();
  readonly #exit: Promise<number | null>;

  constructor(settings: CandidateSettings) {
    this.#identity = settings.identity;
    const program = join(import.meta.dirname, "candidate.fixture.ts");
    this.#child = spawn(process.execPath, [program, JSON.stringify(settings)], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdin.on("error", () => {}); // the process is gone, which its exit shows
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      this.#told.push({ ...(JSON.parse(line) as CandidateEvent), at: performance.now() });
      this.#news.emit("told");
    });
    // "close", not "exit": all of its output has arrived.
    this.#exit = once(this.#child, "close").then(([code]) => {
      this.#closed.abort();
      return code as number | null;
    });
  }

  /** Null when the process was killed. */
  get exited(): Promise<number | null> {
    return this.#exit;
  }

  has(event: CandidateEvent["event"]): boolean {
    return this.#told.some((told) => told.event === event);
  }

  /** Its reports of that kind, with the times at which they arrived here. */
  async told<Name extends CandidateEvent["event"]>(event: Name): Promise<Told<Name>> {
    const signal = AbortSignal.any([AbortSignal.timeout(30_000), this.#closed.signal]);
    for (;;) {
      const told = this.#told.find((one) => one.event === event);
      if (told) return told as Told<Name>;
      await once(this.#news, "told", { signal }).catch(() => {
        throw new Error(`${this.#identity} was not ${event} within 30 s or before it ended: ${JSON.stringify(this.#told)}`);
      });
    }
  }

  send(command: Command): void {
    this.#child.stdin.write(`${command}\n`);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

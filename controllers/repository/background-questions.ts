// Asks a question about each of many things, and remembers the answers. A question runs in the background: one who does not answer must
// delay no reconcile.
import { BoundedMap } from "../../runtime/bounded-map.ts";

/** One that was asked: its answer, or why there is none. */
export interface Report<Answer> {
  readonly answer?: Answer;
  /** Why it could not be asked. */
  readonly silence?: string;
  /** Since when it has not answered. */
  readonly silentSince?: Date;
  readonly at: Date;
}

/** Undefined where there is nobody to ask. */
export type Question<Answer> = (() => Promise<Answer>) | undefined;

interface Known<Answer> {
  report?: Report<Answer>;
  asking?: Promise<void>;
  askedAt: number;
}

export class BackgroundQuestions<Answer> {
  readonly #now: () => Date;
  readonly #known = new BoundedMap<Known<Answer>>(10_000);

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** The last answer, as it is. Asks again in the background where it is older than `seconds`. */
  look(about: string, question: Question<Answer>, seconds: number): Report<Answer> | undefined {
    const known = this.#known.get(about) ?? { askedAt: Number.NEGATIVE_INFINITY };
    this.#known.set(about, known);
    if (!known.asking && this.#now().getTime() - known.askedAt >= seconds * 1000) {
      known.askedAt = this.#now().getTime();
      known.asking = this.#ask(known, question).finally(() => {
        delete known.asking;
      });
    }
    return known.report;
  }

  /** The last answer, without asking. */
  of(about: string): Report<Answer> | undefined {
    return this.#known.get(about)?.report;
  }

  /** Whether a question is under way. */
  isAsking(about: string): boolean {
    return this.#known.get(about)?.asking !== undefined;
  }

  forget(about: string): void {
    this.#known.delete(about);
  }

  /** Resolves when no question is under way. */
  async settled(about: string): Promise<void> {
    await this.#known.get(about)?.asking;
  }

  async #ask(known: Known<Answer>, question: Question<Answer>): Promise<void> {
    const before = known.report;
    try {
      if (!question) throw new Error("its Pod has no address");
      known.report = { answer: await question(), at: this.#now() };
    } catch (error) {
      const at = this.#now();
      const silentSince = before?.silentSince ?? at;
      known.report = { ...(before?.answer && { answer: before.answer }), silence: (error as Error).message, silentSince, at };
    }
  }
}

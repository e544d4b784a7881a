// Asks repositories and primaries about the archive, and remembers the answers. A question runs in the background: a repository that does
// not answer must delay no reconcile.
import { BoundedMap } from "../../runtime/bounded-map.ts";
import type { DatabaseIdentity } from "../desired/identity.ts";
import type { InstanceAnswer, RepositoryAnswer } from "./answers.ts";

/** One that was asked: its answer, or why there is none. */
export interface Report<Answer> {
  readonly answer?: Answer;
  /** Why it could not be asked. */
  readonly silence?: string;
  /** Since when it has not answered. */
  readonly silentSince?: Date;
  readonly at: Date;
}

export interface ArchiveReports {
  readonly repository: Report<RepositoryAnswer> | undefined;
  readonly primary: Report<InstanceAnswer> | undefined;
}

export interface Questions {
  /** Undefined where there is nobody to ask. */
  readonly repository: (() => Promise<RepositoryAnswer>) | undefined;
  readonly primary: (() => Promise<InstanceAnswer>) | undefined;
}

interface Known {
  repository?: Report<RepositoryAnswer>;
  primary?: Report<InstanceAnswer>;
  asking?: Promise<void>;
  askedAt: number;
}

export class Reports {
  readonly #now: () => Date;
  readonly #known = new BoundedMap<Known>(10_000);

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** The last answers, as they are. Asks again in the background where they are older than `seconds`. */
  look({ uid }: DatabaseIdentity, questions: Questions, seconds: number): ArchiveReports {
    const known = this.#known.get(uid) ?? { askedAt: Number.NEGATIVE_INFINITY };
    this.#known.set(uid, known);
    if (!known.asking && this.#now().getTime() - known.askedAt >= seconds * 1000) {
      known.askedAt = this.#now().getTime();
      known.asking = this.#ask(known, questions).finally(() => {
        delete known.asking;
      });
    }
    return { repository: known.repository, primary: known.primary };
  }

  /** The last answers of a database, without asking. */
  of({ uid }: DatabaseIdentity): ArchiveReports {
    const { repository, primary } = this.#known.get(uid) ?? {};
    return { repository, primary };
  }

  /** Whether a question is under way. */
  isAsking({ uid }: DatabaseIdentity): boolean {
    return this.#known.get(uid)?.asking !== undefined;
  }

  /** Resolves when no question is under way. */
  async settled({ uid }: DatabaseIdentity): Promise<void> {
    await this.#known.get(uid)?.asking;
  }

  async #ask(known: Known, { repository, primary }: Questions): Promise<void> {
    [known.repository, known.primary] = await Promise.all([
      this.#report(repository, known.repository),
      this.#report(primary, known.primary),
    ]);
  }

  async #report<Answer>(question: (() => Promise<Answer>) | undefined, before: Report<Answer> | undefined): Promise<Report<Answer>> {
    try {
      if (!question) throw new Error("its Pod has no address");
      return { answer: await question(), at: this.#now() };
    } catch (error) {
      const at = this.#now();
      const silentSince = before?.silentSince ?? at;
      return { ...(before?.answer && { answer: before.answer }), silence: (error as Error).message, silentSince, at };
    }
  }
}

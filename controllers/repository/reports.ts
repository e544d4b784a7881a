// Asks repositories and primaries about the archive, and remembers the answers.
import type { DatabaseIdentity } from "../desired/identity.ts";
import type { InstanceAnswer, RepositoryAnswer } from "./answers.ts";
import { BackgroundQuestions, type Question, type Report } from "./background-questions.ts";

export interface ArchiveReports {
  readonly repository: Report<RepositoryAnswer> | undefined;
  readonly primary: Report<InstanceAnswer> | undefined;
}

export interface Questions {
  readonly repository: Question<RepositoryAnswer>;
  readonly primary: Question<InstanceAnswer>;
}

export class Reports {
  readonly #repositories: BackgroundQuestions<RepositoryAnswer>;
  readonly #primaries: BackgroundQuestions<InstanceAnswer>;

  constructor(now: () => Date) {
    this.#repositories = new BackgroundQuestions(now);
    this.#primaries = new BackgroundQuestions(now);
  }

  /** The last answers, as they are. Asks again in the background where they are older than `seconds`. */
  look({ uid }: DatabaseIdentity, { repository, primary }: Questions, seconds: number): ArchiveReports {
    return {
      repository: this.#repositories.look(uid, repository, seconds),
      primary: this.#primaries.look(uid, primary, seconds),
    };
  }

  /** The last answers about a database, without asking. */
  of({ uid }: DatabaseIdentity): ArchiveReports {
    return { repository: this.#repositories.of(uid), primary: this.#primaries.of(uid) };
  }

  /** Whether a question is under way. */
  isAsking({ uid }: DatabaseIdentity): boolean {
    return this.#repositories.isAsking(uid) || this.#primaries.isAsking(uid);
  }

  /** Resolves when no question is under way. */
  async settled({ uid }: DatabaseIdentity): Promise<void> {
    await Promise.all([this.#repositories.settled(uid), this.#primaries.settled(uid)]);
  }
}

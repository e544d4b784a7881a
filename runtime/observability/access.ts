// Who may read the metrics: the API server resolves a token to a user and decides whether that user may GET the path. Rules and
// times are those of controller-runtime's WithAuthenticationAndAuthorization.
import { createHmac, randomBytes } from "node:crypto";
import { type Clock, systemClock } from "../clock.ts";
import type { KubeClient } from "../kube/client.ts";
import { AnswerCache } from "./answer-cache.ts";

export type Verdict =
  | { readonly kind: "allowed" }
  /** No token, or not a token of this cluster. */
  | { readonly kind: "unauthenticated" }
  | { readonly kind: "forbidden"; readonly user: string }
  /** Too many reviews are under way, so this token was not reviewed. */
  | { readonly kind: "busy" };

/** The part of the client that is needed. */
export type Reviewer = Pick<KubeClient, "raw">;

/** A user in the form in which the API server returns and accepts it. */
interface User {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface TokenReview {
  readonly status?: { readonly authenticated?: boolean; readonly user?: User };
}

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean };
}

const authenticatedMilliseconds = 60_000;
const allowedMilliseconds = 5 * 60_000;
const deniedMilliseconds = 30_000;
const reviewMilliseconds = 10_000;
const mostAnswers = 1024;
/** Anyone can send invalid tokens: their reviews must not take the connections that controllers need. */
const mostReviews = 8;

export class Access {
  readonly #client: Reviewer;
  readonly #path: string;
  readonly #users: AnswerCache<User | undefined>;
  readonly #permissions: AnswerCache<boolean>;
  /** Tokens are stored as hashes with a key of this process, so that they can't be read or guessed from a memory dump. */
  readonly #hashKey = randomBytes(32);
  #reviewing = 0;

  constructor(client: Reviewer, path: string, clock: Clock = systemClock) {
    this.#client = client;
    this.#path = path;
    this.#users = new AnswerCache(mostAnswers, clock);
    this.#permissions = new AnswerCache(mostAnswers, clock);
  }

  /** Reviews an Authorization header. Rejects when the API server does not answer. */
  async review(authorization: string | undefined): Promise<Verdict> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) return { kind: "unauthenticated" };
    const hash = createHmac("sha256", this.#hashKey).update(token).digest("base64");
    if (!this.#users.has(hash) && this.#reviewing >= mostReviews) return { kind: "busy" };
    const user = await this.#users.get(hash, () => this.#authenticate(token));
    if (user === undefined) return { kind: "unauthenticated" };
    const allowed = await this.#permissions.get(JSON.stringify(user), () => this.#authorize(user));
    return allowed ? { kind: "allowed" } : { kind: "forbidden", user: user.username ?? "" };
  }

  async #authenticate(token: string): Promise<{ answer: User | undefined; milliseconds: number }> {
    this.#reviewing++;
    try {
      const { status } = await this.#post<TokenReview>("authentication.k8s.io/v1", "TokenReview", { token });
      const user = status?.authenticated === true ? status.user : undefined;
      // A refused token is not cached: invented ones would displace useful answers.
      return { answer: user, milliseconds: user === undefined ? 0 : authenticatedMilliseconds };
    } finally {
      this.#reviewing--;
    }
  }

  async #authorize({ username, uid, groups, extra }: User): Promise<{ answer: boolean; milliseconds: number }> {
    const nonResourceAttributes = { path: this.#path, verb: "get" };
    const spec = { user: username, uid, groups, extra, nonResourceAttributes };
    const { status } = await this.#post<SubjectAccessReview>("authorization.k8s.io/v1", "SubjectAccessReview", spec);
    const allowed = status?.allowed === true && status.denied !== true;
    return { answer: allowed, milliseconds: allowed ? allowedMilliseconds : deniedMilliseconds };
  }

  async #post<T>(apiVersion: string, kind: string, spec: object): Promise<T> {
    const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
    return await this.#client.raw<T>("POST", path, { apiVersion, kind, spec }, { deadline: reviewMilliseconds });
  }
}

// The operator's calls to the REST API of one instance's Patroni. Switchovers are not among them: they are ordered in Patroni's ConfigMap.
import type { CertifiedKey } from "../../runtime/certificates/issue.ts";
import { callInstance, type Instance, type InstanceAnswer, type InstanceRequest, type Limits } from "./instance-call.ts";
import { PatroniError, PatroniRefused, PatroniTimeout } from "./patroni-errors.ts";
import { type PatroniStatus, parseStatus } from "./patroni-status.ts";

export interface PatroniApiOptions extends Omit<Instance, "port"> {
  /** A client certificate of the database's authority. Patroni requires it for actions; everyone can read its status. */
  readonly identity: CertifiedKey;
  /** Default: 8008. */
  readonly port?: number;
}

export type CallLimits = Partial<Limits>;

export interface ObservedStatus extends PatroniStatus {
  /** SHA-256 of Patroni's certificate. Once it is that of the Secret, Patroni has read the Secret, and the authorities in it, too. */
  readonly certificateFingerprint: string;
  /** When that certificate expires. */
  readonly certificateExpires: Date | undefined;
}

/**
 * `under way`: Patroni has begun, now or after an earlier call, and continues by itself; its status shows the end (another
 * `postmasterStartTime`). `not pending`: no setting waited for a restart.
 */
export type Restart = "restarted" | "under way" | "not pending";

/** More than a second: when PostgreSQL does not answer, Patroni asks it again after a second, and answers only then. */
const defaultDeadline = 2000;
const longestAnswerTold = 300;

export class PatroniApi {
  readonly #instance: Instance;
  readonly #identity: CertifiedKey;

  constructor({ identity, port = 8008, ...instance }: PatroniApiOptions) {
    this.#instance = { ...instance, port };
    this.#identity = identity;
  }

  async status(limits: CallLimits = {}): Promise<ObservedStatus> {
    // Without our certificate: the status of an instance that does not trust it (any more) can still be read.
    const request = { method: "GET", path: "/patroni" } as const;
    const { text, fingerprint, expires } = await this.#call(request, limits);
    const status = parseStatus(text);
    if (status === undefined) throw new PatroniError(`${this.#what(request)}: the answer is no status`);
    return { ...status, certificateFingerprint: fingerprint, certificateExpires: expires };
  }

  /**
   * Restarts PostgreSQL, and never waits longer than the deadline. Patroni answers at the end of the restart, which a shutdown
   * checkpoint can delay by minutes, and completes it even if the caller has gone.
   */
  async restart({ ifPending = false, ...limits }: CallLimits & { readonly ifPending?: boolean } = {}): Promise<Restart> {
    try {
      // Patroni checks whether the condition is present, not whether it is true.
      await this.#do("/restart", ifPending ? { restart_pending: true } : {}, limits);
      return "restarted";
    } catch (error) {
      if (error instanceof PatroniTimeout && error.sent) return "under way";
      if (!(error instanceof PatroniRefused) || error.status !== 503) throw error;
      if (error.answer === "restart already in progress" || error.answer === "postgres is still starting") return "under way";
      if (ifPending && error.answer === "restart conditions are not satisfied") return "not pending";
      throw error;
    }
  }

  /**
   * Discards the data of a replica and copies it again. Resolves when that has begun, or will begin as soon as Patroni has ended
   * its present action. A copy under way starts over, so the caller should check the state (`creating replica`) before. The leader
   * refuses. The caller must ensure that this is not the only copy of the data.
   */
  async reinitialize(limits: CallLimits = {}): Promise<void> {
    try {
      await this.#do("/reinitialize", { force: true }, limits);
    } catch (error) {
      if (!(error instanceof PatroniTimeout && error.sent)) throw error;
    }
  }

  /**
   * Makes Patroni and PostgreSQL read configuration, certificates and authorities again, in Patroni's next loop. Patroni reads
   * authorities only if the certificate has changed, and certificates not in the same loop as a changed file: call it until the
   * status shows the certificate.
   */
  async reload(limits: CallLimits = {}): Promise<void> {
    await this.#do("/reload", undefined, limits);
  }

  async #do(path: string, body: object | undefined, limits: CallLimits): Promise<void> {
    await this.#call({ method: "POST", path, body, identity: this.#identity }, limits);
  }

  async #call(request: InstanceRequest, { deadline = defaultDeadline, signal }: CallLimits): Promise<InstanceAnswer> {
    const answer = await callInstance(this.#instance, request, { deadline, signal });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new PatroniRefused(this.#what(request), answer.status, sentence(answer.text));
  }

  #what({ method, path }: InstanceRequest): string {
    const { namespace, name } = this.#instance.pod;
    return `${method} ${path} at ${namespace}/${name}`;
  }
}

/** The answer in a form for a condition's message. Error pages of Python are whole HTML documents, and are dropped. */
function sentence(text: string): string {
  if (/^\s*<(!doctype|html)/i.test(text)) return "";
  return text.replace(/\s+/g, " ").trim().slice(0, longestAnswerTold);
}

// The calls that the operator makes to one instance's Patroni. Switchovers are not among them: those are asked for in the store.
import type { CertifiedKey } from "../../runtime/certificates/issue.ts";
import { callInstance, type Instance, type InstanceAnswer, type InstanceRequest, type Limits } from "./instance-call.ts";
import { PatroniError, PatroniRefused, PatroniTimeout } from "./patroni-errors.ts";
import { type PatroniStatus, parseStatus } from "./patroni-status.ts";

export interface PatroniApiOptions extends Omit<Instance, "port"> {
  /** A client's certificate of the database's authority: Patroni does nothing for others, and tells its status to anybody. */
  readonly identity: CertifiedKey;
  /** 8008 unless told. */
  readonly port?: number;
}

export type CallLimits = Partial<Limits>;

export interface ObservedStatus extends PatroniStatus {
  /** SHA-256 of the certificate that Patroni serves: that of the Secret once it has read it, and the authorities beside it. */
  readonly certificateFingerprint: string;
  /** When that certificate ends. */
  readonly certificateExpires: Date | undefined;
}

/**
 * `under way`: Patroni has begun, or is at it since an earlier call, and goes on by itself; its status shows the end
 * (another `postmasterStartTime`). `not pending`: there was nothing to restart for.
 */
export type Restart = "restarted" | "under way" | "not pending";

/** Patroni tries a PostgreSQL that does not answer once more after a second. */
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
    // Without our certificate: an instance that does not trust it, or not any more, can still be read.
    const request = { method: "GET", path: "/patroni" } as const;
    const { text, fingerprint, expires } = await this.#call(request, limits);
    const status = parseStatus(text);
    if (status === undefined) throw new PatroniError(`${this.#what(request)}: the answer is no status`);
    return { ...status, certificateFingerprint: fingerprint, certificateExpires: expires };
  }

  /**
   * Restarts PostgreSQL, and never waits longer than the deadline: Patroni answers when the restart is over, which a long
   * shutdown checkpoint can make minutes, and carries it out also when nobody is left to hear of it.
   */
  async restart({ ifPending = false, ...limits }: CallLimits & { readonly ifPending?: boolean } = {}): Promise<Restart> {
    try {
      // Patroni looks whether the condition is there, not whether it is true.
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
   * Throws the data of a replica away and copies it anew; resolves when that has begun, or will as soon as Patroni has broken
   * off what it is at. A copy that is being made is begun anew, so look at the state (`creating replica`) before. The leader
   * refuses. Whoever may lose the only copy by it has to look first.
   */
  async reinitialize(limits: CallLimits = {}): Promise<void> {
    try {
      await this.#do("/reinitialize", { force: true }, limits);
    } catch (error) {
      if (!(error instanceof PatroniTimeout && error.sent)) throw error;
    }
  }

  /**
   * Has Patroni read its file, certificates and authorities again, in its next round; PostgreSQL too. Authorities are read only
   * when the certificate is another, and certificates not in the same round as a changed file: call it until the status shows
   * the certificate.
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

/** Fit for a condition's message. Python's own error pages are whole documents. */
function sentence(text: string): string {
  if (/^\s*<(!doctype|html)/i.test(text)) return "";
  return text.replace(/\s+/g, " ").trim().slice(0, longestAnswerTold);
}

// For tests: what a Job's program in a container has to do with the operator. Its certificate, its progress, its last words.

import { readFileSync } from "node:fs";
import { request } from "node:https";
import { type CertifiedKey, createAuthority, issueCertificate } from "../../runtime/certificates/issue.ts";
import { eventually } from "../../tools/eventually.ts";
import { freePort } from "../../tools/free-port.ts";
import type { Containers, Ended } from "./image-files.fixture.ts";

const lifetimeMs = 3_600_000;

// biome-ignore lint/suspicious/noExplicitAny: tests look at what the program says
export type Outcome = any;

/** One database's authority, and the runs of one Job at a time. */
export class JobRuns {
  readonly #containers: Containers;
  readonly #authority: CertifiedKey;
  /** `NAMESPACE/NAME` of the database. */
  readonly #database: string;
  readonly #dnsNames: readonly string[];
  readonly #port: number;

  private constructor(containers: Containers, authority: CertifiedKey, database: string, dnsNames: readonly string[], port: number) {
    this.#containers = containers;
    this.#authority = authority;
    this.#database = database;
    this.#dnsNames = dnsNames;
    this.#port = port;
  }

  static async start(containers: Containers, database: string, dnsNames: readonly string[]): Promise<JobRuns> {
    const authority = await createAuthority({ commonName: "authority", lifetimeMs, now: new Date() });
    return new JobRuns(containers, authority, database, dnsNames, await freePort());
  }

  /** Where the program answers, and leaves its message. */
  get env(): Readonly<Record<string, string>> {
    return { PORT: String(this.#port), TERMINATION_LOG: "/tmp/message" };
  }

  /** Writes a new certificate into a directory; resolves to it. */
  async certify(role: string, directory: string): Promise<CertifiedKey> {
    const commonName = `${this.#database}/${role}`;
    const asked = { commonName, dnsNames: [...this.#dnsNames], usages: ["server", "client"], lifetimeMs, now: new Date() } as const;
    const made = await issueCertificate(this.#authority, asked);
    for (const [name, text] of Object.entries({ "ca.crt": this.#authority.certificate, "tls.crt": made.certificate, "tls.key": made.key }))
      this.#containers.write(`${directory}/${name}`, text);
    return made;
  }

  /** Before each run: the next one leaves a message of its own. */
  forgetMessage(): void {
    this.#containers.write("message", "");
  }

  /** The termination message of a run that has ended. */
  outcome({ code, text }: Ended): Outcome {
    const message = readFileSync(this.#containers.path("message"));
    if (message.length === 0) throw new Error(`no message was left: ${text}`);
    if (message.length > 4000) throw new Error(`the message has ${message.length} bytes`);
    const outcome = JSON.parse(message.toString());
    if ((code === 0) !== (outcome.outcome === "succeeded")) throw new Error(`ended with ${code} and ${message}`);
    return outcome;
  }

  /** What a run that is under way tells this client. */
  async progress(role: string): Promise<{ status: number; body: string }> {
    return await this.ask(role, this.#port, "/progress");
  }

  /** What a program that serves on this port tells this client. */
  async ask(role: string, port: number, path: string): Promise<{ status: number; body: string }> {
    const { certificate, key } = await this.certify(role, "client");
    const connection = { host: "127.0.0.1", port, servername: this.#dnsNames[0], ca: this.#authority.certificate };
    return await new Promise((resolve, reject) => {
      const asked = request({ ...connection, cert: certificate, key, agent: false, path }, async (answer) => {
        let body = "";
        for await (const part of answer) body += part;
        resolve({ status: answer.statusCode ?? 0, body });
      });
      asked.on("error", reject).end();
    });
  }
}

/** The deadline is for a busy machine. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(what, 120_000, holds);
}

// The repository's program on this machine, with certificates of the project's own making. In place of pgBackRest there is a script that
// notes what it is asked for: the real one is exercised by smoke-test.sh, inside of the image.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { certificateName, clientCertificate, nothingKept, rotateCertificates } from "../../controllers/database/certificates.ts";
import { type CertifiedKey, issueCertificate } from "../../runtime/certificates/issue.ts";
import { type Kept, signingAuthority } from "../../runtime/certificates/rotation.ts";
import { CommandError, run } from "../../tools/command.ts";
import { freePort } from "../../tools/free-port.ts";

const database = { namespace: "shop", name: "orders" };
const hour = 3_600_000;
/** Of the data whose segments are pushed. */
export const systemIdentifier = 7_300_000_000_000_000_001n;

export type Client = "server" | "operator" | "stranger";
export interface Reply {
  readonly status: number;
  readonly body: string;
}

export class Repository {
  readonly directory = mkdtempSync(join(tmpdir(), "repository-"));
  readonly port: number;
  readonly clients: Record<Client, CertifiedKey>;
  readonly #kept: Kept;
  #program: ChildProcess | undefined;

  private constructor(port: number, kept: Kept, clients: Record<Client, CertifiedKey>) {
    this.port = port;
    this.#kept = kept;
    this.clients = clients;
  }

  static async make(): Promise<Repository> {
    const now = new Date();
    const { kept } = await rotateCertificates(nothingKept, { database, trusted: [], now });
    const operator = await clientCertificate(kept, database, "operator", now);
    const server = { certificate: kept.certificate, key: kept.key };
    const stranger = await issue(kept, "shop/others/server", []);
    const repository = new Repository(await freePort(), kept, { server, operator, stranger });
    repository.#writeFiles();
    await repository.renewCertificate();
    return repository;
  }

  path(...names: readonly string[]): string {
    return join(this.directory, ...names);
  }

  #writeFiles(): void {
    for (const name of ["mounted/repository", "mounted/tls", "bin", "store", "volume/data/global", "certificates"])
      mkdirSync(this.path(name), { recursive: true });
    const { certificate, key } = this.clients.server;
    for (const [name, text] of Object.entries({ "tls.crt": certificate, "tls.key": key, "ca.crt": this.#kept.bundle }))
      writeFileSync(this.path("certificates", name), text);
    this.configure(`repo1-path=${this.path("store")}`);
    const names = { server: certificateName(database, "server"), operator: certificateName(database, "operator") };
    writeFileSync(this.path("mounted/repository/clients.json"), JSON.stringify({ ...names, stanza: "uid-17-1" }));
    writeFileSync(this.path("volume/data/global/pg_control"), Buffer.alloc(8192));
    this.pgBackRest("");
  }

  /** Another archive, of which the program knows nothing yet. */
  begin(stanza: string): void {
    const clients = JSON.parse(readFileSync(this.path("mounted/repository/clients.json"), "utf8"));
    writeFileSync(this.path("mounted/repository/clients.json"), JSON.stringify({ ...clients, stanza }));
  }

  configure(...settings: readonly string[]): void {
    writeFileSync(this.path("mounted/repository/pgbackrest.conf"), ["[global]", ...settings, ""].join("\n"));
  }

  /** A new certificate of the repository, as the operator writes one; resolves to it. */
  async renewCertificate(): Promise<CertifiedKey> {
    const made = await issue(this.#kept, "shop/orders/repository", ["orders-repository"]);
    for (const [name, text] of Object.entries({ "tls.crt": made.certificate, "tls.key": made.key, "ca.crt": this.#kept.bundle }))
      writeFileSync(this.path("mounted/tls", name), text);
    return made;
  }

  /** What stands for pgBackRest from now on: it notes its arguments, then runs this shell script. */
  pgBackRest(script: string): void {
    const file = this.path("bin/pgbackrest");
    writeFileSync(`${file}.new`, `#!/bin/bash\ncd ${this.directory}\necho "$*" >> calls\n${script}\n`);
    chmodSync(`${file}.new`, 0o755);
    writeFileSync(this.path("calls"), "");
    rmSync(file, { force: true });
    writeFileSync(file, readFileSync(`${file}.new`), { mode: 0o755 });
  }

  /** The commands that were asked for, without those of the probe and of the survey, which has no backup to begin with. */
  get calls(): string[] {
    const lines = readFileSync(this.path("calls"), "utf8").trim().split("\n");
    return lines.filter((line) => line !== "" && !/sampledb-probe|archive\.info|^info /.test(line));
  }

  get environment(): Record<string, string> {
    return {
      PATH: `${this.path("bin")}:${process.env["PATH"]}`,
      MOUNTED: this.path("mounted"),
      MEMORY: this.path("memory"),
      WORK: this.path("work"),
      PORT: String(this.port),
      HOSTNAME: "orders-1",
      CERTIFICATES: this.path("certificates"),
      INTAKE_ADDRESS: "127.0.0.1",
      INTAKE_PORT: String(this.port),
      VOLUME: this.path("volume"),
      PGDATA: this.path("volume/data"),
      STOP_MARK: this.path("stopping"),
      LET_GO: this.path("let-go"),
      SECONDS_TO_FETCH: "20", // a machine with much to do is slow, and right
    };
  }

  start(environment: Readonly<Record<string, string>> = {}): ChildProcess {
    return spawn("python3", ["-ISB", join(import.meta.dirname, "serve-repository")], {
      env: { ...this.environment, ...environment },
      stdio: ["ignore", "ignore", "pipe"],
    });
  }

  async serve(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#program = this.start(environment);
    for (let tries = 0; tries < 500; tries++) {
      const answer = await this.ask("operator", "GET", "/status").catch(() => undefined);
      if (answer?.status === 200) return;
      await sleep(20);
    }
    throw new Error("serve-repository does not answer");
  }

  stop(): void {
    this.#program?.kill("SIGKILL");
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** How this client connects; undefined is one without a certificate. */
  connection(client: Client | undefined) {
    const own = client && { cert: this.clients[client].certificate, key: this.clients[client].key };
    return { host: "127.0.0.1", port: this.port, ca: this.#kept.bundle, servername: "orders-repository", ...own };
  }

  async ask(client: Client | undefined, method: string, path: string, body?: Buffer, headers: RequestOptions["headers"] = {}) {
    const length = body === undefined ? {} : { "content-length": body.length };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request({ ...this.connection(client), agent: false, method, path, headers: { ...length, ...headers } }, resolve);
      asked.on("error", reject).end(body);
    });
    let text = "";
    for await (const part of answer) text += part;
    return { status: answer.statusCode ?? 0, body: text.trim() } satisfies Reply;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look at what the program says
  async status(): Promise<any> {
    return JSON.parse((await this.ask("operator", "GET", "/status")).body);
  }

  /** A segment as PostgreSQL writes it: its first page tells its place in the log, and whose it is. Resolves to its path. */
  writeSegment(file: string, number = 3n, of = systemIdentifier): string {
    const content = Buffer.alloc(16 * 1024 * 1024);
    content.writeBigUInt64LE(number << 24n, 8);
    content.writeBigUInt64LE(of, 24);
    writeFileSync(this.path(file), content);
    return this.path(file);
  }

  /** Where `push-leftovers` is beside the programs that it calls, to be executed as in the image. */
  leftoversProgram(): string {
    const directory = mkdtempSync(this.path("programs-"));
    symlinkSync(join(import.meta.dirname, "intake_client.py"), join(directory, "intake_client.py"));
    const push = `#!/bin/sh\nexec python3 -ISB ${join(import.meta.dirname, "pgbackrest-push")} "$@"\n`;
    writeFileSync(join(directory, "pgbackrest-push"), push, { mode: 0o755 });
    symlinkSync(join(import.meta.dirname, "push-leftovers"), join(directory, "push-leftovers"));
    return join(directory, "push-leftovers");
  }

  /** Runs a program of an instance; resolves to its exit code and what it printed. */
  async program(name: string, ...args: readonly string[]): Promise<{ code: number; text: string }> {
    return await this.programWith({}, name, ...args);
  }

  async programWith(environment: Readonly<Record<string, string>>, name: string, ...args: readonly string[]) {
    const file = join(import.meta.dirname, name);
    const command = readFileSync(file, "utf8").startsWith("#!/bin/sh") ? ["sh", file] : ["python3", "-ISB", file];
    try {
      const text = await run("sh", ["-c", 'exec "$@" 2>&1', "sh", ...command, ...args], { env: { ...this.environment, ...environment } });
      return { code: 0, text };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return { code: error.exitCode ?? -1, text: error.message };
    }
  }
}

async function issue(kept: Kept, commonName: string, dnsNames: readonly string[]): Promise<CertifiedKey> {
  const now = new Date();
  const authority = signingAuthority(kept, now);
  if (authority === undefined) throw new Error("the authority can't sign");
  return await issueCertificate(authority, { commonName, dnsNames, usages: ["server", "client"], lifetimeMs: hour, now });
}

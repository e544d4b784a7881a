// A database without a cluster: instances with their container `backup`, the repository's program, and runs of backups.
import type { ChildProcess } from "node:child_process";
import type { CertifiedKey } from "../../runtime/certificates/issue.ts";
import { freePort } from "../../tools/free-port.ts";
import { Containers, type Ended, ended } from "./image-files.fixture.ts";
import { JobRuns, type Outcome, until } from "./job-run.fixture.ts";

export const stanza = "uid-17-1";

const hostOf = (instance: string) => `${instance}.orders-pods.shop.svc`;
const instances = ["orders-0", "orders-1"] as const;
type Instance = (typeof instances)[number];
type Role = "server" | "repository" | "backup" | "operator" | "stranger";

export interface Asked {
  readonly task: "backup" | "adopt" | "expire";
  readonly type?: "full" | "diff" | "incr";
  readonly uid?: string;
  readonly label?: string;
  /** The packed spec of the SampleDB. */
  readonly spec?: string;
  /** For an expiry: those that go with it. */
  readonly dependents?: readonly string[];
  readonly currentStanza?: string;
  /** For a backup; the first one is told to be the primary. */
  readonly instances?: readonly Instance[];
  /** Whose certificate the run has. */
  readonly as?: Role;
  readonly env?: Readonly<Record<string, string>>;
}

export class Stage {
  readonly containers: Containers;
  readonly #runs: JobRuns;
  readonly #ports: Readonly<Record<Instance, number>>;
  readonly #intakePort: number;
  #settings: readonly string[] = [];
  readonly #servers = new Map<Instance, ChildProcess>();

  private constructor(containers: Containers, runs: JobRuns, [first = 0, second = 0, intake = 0]: readonly number[]) {
    this.containers = containers;
    this.#runs = runs;
    this.#ports = { "orders-0": first, "orders-1": second };
    this.#intakePort = intake;
  }

  /** A repository on a volume; no instance runs yet. */
  static async start(): Promise<Stage> {
    const names = ["orders-repository", ...instances.map(hostOf)];
    const containers = await Containers.start(names);
    const ports = [];
    for (let count = 0; count < 3; count++) ports.push(await freePort());
    const stage = new Stage(containers, await JobRuns.start(containers, "shop/orders", names), ports);
    for (const each of instances) await stage.certify("server", `${each}/tls`);
    await stage.certify("repository", "repository/tls");
    stage.store("repo1-type=posix", "repo1-path=/tmp/store");
    await containers.run(["mkdir", "/tmp/store"]);
    return stage;
  }

  /** Writes a new certificate into a directory; resolves to it. */
  async certify(role: Role, directory: string): Promise<CertifiedKey> {
    return await this.#runs.certify(role, directory);
  }

  /** Where the repository is from now on. */
  store(...settings: readonly string[]): void {
    this.#settings = [...settings, "compress-type=zst"];
    const clients = { server: "shop/orders/server", operator: "shop/orders/operator", stanza };
    this.containers.write("repository/repository/pgbackrest.conf", ["[global]", ...this.#settings, `[${stanza}]`, ""].join("\n"));
    this.containers.write("repository/repository/clients.json", JSON.stringify(clients));
  }

  serveRepository(more: Readonly<Record<string, string>> = {}): ChildProcess {
    const env = {
      ...more,
      MOUNTED: "/tmp/repository",
      MEMORY: "/tmp/repository-memory",
      WORK: "/tmp/repository-work",
      PORT: String(this.#intakePort),
    };
    return this.containers.spawn(["serve-repository"], { env });
  }

  /** The directories that an instance mounts, and what its programs have to know of them. */
  #environment(instance: Instance): Record<string, string> {
    return {
      HOSTNAME: instance,
      CERTIFICATES: `/tmp/${instance}/tls`,
      INTAKE_ADDRESS: "127.0.0.1",
      INTAKE_PORT: String(this.#intakePort),
      VOLUME: `/tmp/${instance}/volume`,
      PGDATA: `/tmp/${instance}/volume/data`,
      STOP_MARK: `/tmp/${instance}/stopping`,
      PGHOST: `/tmp/${instance}/sockets`,
    };
  }

  async shell(instance: Instance, script: string): Promise<string> {
    const { code, text } = await this.containers.run(["bash", "-ec", script], { env: this.#environment(instance) });
    if (code !== 0) throw new Error(`${script} ended with ${code}: ${text}`);
    return text;
  }

  async sql(...statements: readonly string[]): Promise<string> {
    return await this.shell("orders-0", `psql -XAtqv ON_ERROR_STOP=1 ${statements.map((each) => `-c "${each}"`).join(" ")}`);
  }

  /** The primary archives by the repository's program; others are copies of it, and follow. */
  async startPostgres(instance: Instance): Promise<void> {
    const make = instance === "orders-0" ? "initdb --data-checksums --no-sync --username=postgres --auth=peer" : copyOfPrimary;
    await this.shell(instance, `mkdir -p $VOLUME $PGHOST; ${make} -D $PGDATA`);
    // After three pushes that fail, PostgreSQL waits for a minute before it tries again.
    await until("the repository answers", async () => (await this.status().catch(() => undefined)) !== undefined);
    await this.restartPostgres(instance);
  }

  /** On the data that it has. */
  async restartPostgres(instance: Instance): Promise<void> {
    const settings = [
      "listen_addresses=",
      `unix_socket_directories=/tmp/${instance}/sockets`,
      "archive_mode=on",
      "archive_command=pgbackrest-push %p",
      "shared_buffers=16MB",
      "fsync=off",
    ];
    const command = ["bash", "-c", serverWithSignals, `/tmp/${instance}/signal`, ...settings.flatMap((each) => ["-c", each])];
    const server = this.containers.spawn(command, { env: this.#environment(instance) });
    server.stderr?.resume();
    this.#servers.set(instance, server);
    await this.shell(instance, "until pg_isready --quiet; do sleep 0.1; done");
  }

  /** INT ends it as a Pod that is deleted, QUIT as one that is lost. */
  async stopPostgres(instance: Instance, signal: "INT" | "QUIT"): Promise<void> {
    const server = this.#servers.get(instance);
    this.containers.write(`${instance}/signal`, signal);
    if (server) await ended(server);
  }

  /** By a user without a name, as on OpenShift; PostgreSQL knows its name. */
  serveData(instance: Instance): ChildProcess {
    return this.containers.spawn(["serve-data", "shop/orders/backup"], {
      env: {
        CERTIFICATES: `/tmp/${instance}/tls`,
        PORT: String(this.#ports[instance]),
        LOCKS: `/tmp/${instance}/locks`,
        SECONDS_BETWEEN_LOOKS: "0.2",
      },
      readOnly: [`${instance}/volume`],
      unnamed: true,
    });
  }

  /** The repository's program, to which this resolves, and a primary whose data is served. */
  async servePrimary(more: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    const repository = this.serveRepository(more);
    await this.startPostgres("orders-0");
    this.serveData("orders-0");
    await this.until("the data is served", async () => (await this.served("orders-0")) !== "");
    return repository;
  }

  /** Begins a run as the Job of a Backup does. */
  async begin({
    task,
    type = "full",
    uid = "",
    label,
    dependents = [],
    currentStanza = stanza,
    spec = "",
    instances: named = ["orders-0"],
    as = "backup",
    env = {},
  }: Asked): Promise<ChildProcess> {
    const used = task === "backup" ? named : [];
    const asked = used.map((each, index) => ({ host: hostOf(each), primary: index === 0 }));
    const lines = used.flatMap((each, index) => this.#lines(each, index + 1));
    const options = ["repo1-bundle=y", "repo1-block=y", "start-fast=y", "process-max=1", "backup-standby=prefer", "archive-timeout=10"];
    const text = ["[global]", ...this.#settings, ...options, `[${stanza}]`, ...lines, ""].join("\n");
    this.containers.write("run/repository/pgbackrest.conf", text);
    const run = { task, stanza, type, uid, label, dependents, currentStanza, spec, instances: asked, operator: "shop/orders/operator" };
    this.containers.write("run/repository/run.json", JSON.stringify(run));
    await this.certify(as, "run/tls");
    this.#runs.forgetMessage();
    return this.containers.spawn(["run-backup"], {
      env: {
        MOUNTED: "/tmp/run",
        MEMORY: "/tmp/run-memory",
        ...this.#runs.env,
        SECONDS_BETWEEN_LOOKS: "0.1",
        SECONDS_FOR_A_GAP: "0",
        ...env,
      },
      unnamed: true,
    });
  }

  #lines(instance: Instance, index: number): string[] {
    const settings = {
      host: hostOf(instance),
      "host-type": "tls",
      "host-port": String(this.#ports[instance]),
      "host-ca-file": "/tmp/run/tls/ca.crt",
      "host-cert-file": "/tmp/run/tls/tls.crt",
      "host-key-file": "/tmp/run/tls/tls.key",
      path: `/tmp/${instance}/volume/data`,
      "socket-path": `/tmp/${instance}/sockets`,
    };
    return Object.entries(settings).map(([name, value]) => `pg${index}-${name}=${value}`);
  }

  /** Runs it to its end; resolves to the termination message. */
  async run(asked: Asked): Promise<Outcome> {
    return this.outcome(await ended(await this.begin(asked)));
  }

  async label(asked: Omit<Asked, "task">): Promise<string> {
    const made = await this.run({ task: "backup", ...asked });
    if (made.outcome !== "succeeded") throw new Error(JSON.stringify(made));
    return made.label;
  }

  outcome(end: Ended): Outcome {
    return this.#runs.outcome(end);
  }

  /** What a run that is under way tells this client. */
  async progress(role: Role): Promise<{ status: number; body: string }> {
    return await this.#runs.progress(role);
  }

  /** What the repository tells the operator. */
  async status(): Promise<Outcome> {
    return JSON.parse((await this.#runs.ask("operator", this.#intakePort, "/status")).body);
  }

  /** The serial number of the certificate that an instance serves; empty where nobody serves. */
  async served(instance: Instance): Promise<string> {
    const client = `openssl s_client -connect localhost:${this.#ports[instance]} -CAfile /tmp/${instance}/tls/ca.crt`;
    const { text } = await this.containers.run(["bash", "-c", `(${client} < /dev/null | openssl x509 -noout -serial) 2> /dev/null`]);
    return text;
  }

  /** pgBackRest on the repository's volume, to look at what is there. */
  async pgBackRest(...args: readonly string[]): Promise<string> {
    const { code, text } = await this.containers.run(["pgbackrest", ...args], { env: this.#repositoryEnvironment });
    if (code !== 0) throw new Error(`pgbackrest ${args.join(" ")} ended with ${code}: ${text}`);
    return text;
  }

  get #repositoryEnvironment(): Record<string, string> {
    return {
      PGBACKREST_CONFIG: "/tmp/repository/repository/pgbackrest.conf",
      PGBACKREST_STANZA: stanza,
      PGBACKREST_LOCK_PATH: "/tmp/look",
      PGBACKREST_LOG_LEVEL_FILE: "off",
      PGBACKREST_LOG_LEVEL_CONSOLE: "off",
    };
  }

  /** Restores a backup and what the archive has after it; resolves to the answer of the restored server. */
  async restore(label: string, query: string): Promise<string> {
    const script = `
      rm -rf /tmp/restored; mkdir -m 0700 /tmp/restored
      pgbackrest restore --set=${label} --pg1-path=/tmp/restored
      pg_ctl start --pgdata=/tmp/restored --log=/tmp/restored.log --wait --options="-c listen_addresses= -c unix_socket_directories=/tmp/restored -c archive_mode=off"
      until [ "$(psql -XAth /tmp/restored -c 'select pg_is_in_recovery()')" = f ]; do sleep 0.1; done
      answer=$(psql -XAth /tmp/restored -c "${query}")
      pg_ctl stop --pgdata=/tmp/restored --mode=immediate
      echo "$answer"`;
    const { code, text } = await this.containers.run(["bash", "-ec", script], { env: this.#repositoryEnvironment });
    if (code !== 0) throw new Error(text);
    return text.split("\n").at(-1) ?? "";
  }

  readonly until = until;
}

/** Nobody outside of a container can signal a process in it: the name of a signal in the file $0 is passed on. */
const serverWithSignals =
  'postgres "$@" & server=$!; while kill -0 $server 2>/dev/null; do if [ -e "$0" ]; then kill -s "$(cat "$0")" $server; rm "$0"; fi; sleep 0.05; done';

const copyOfPrimary = "pg_basebackup --host=/tmp/orders-0/sockets --username=postgres --checkpoint=fast --write-recovery-conf --no-sync";

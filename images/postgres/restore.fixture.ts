// A repository with a history, made once by a source that is gone by then, and restores from it: real PostgreSQL and real pgBackRest.
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { S3Store } from "../../e2e/store/s3-store.ts";
import { type CertifiedKey, createAuthority, issueCertificate } from "../../runtime/certificates/issue.ts";
import { freePort } from "../../tools/free-port.ts";
import { Containers, type Ended, ended } from "./image-files.fixture.ts";
import { historyScript } from "./restore-history.fixture.ts";

const lifetimeMs = 3_600_000;
export const stanza = "uid-17-1";
const bucket = "backups";
const passphrase = "a pass = phrase";
const passwords = { superuser: "super'user\\", replication: "replication", application: "pä$$ word" };

/** Where the source's repositories are, as settings of a run: one on a volume, one encrypted, one in a bucket. */
const places = {
  volume: ["repo1-path=/tmp/store"],
  encrypted: ["repo1-path=/tmp/encrypted", "repo1-cipher-type=aes-256-cbc"],
} as const;

export interface Target {
  readonly type: "Latest" | "Time" | "LSN" | "TransactionID" | "RestorePoint" | "Immediate";
  readonly value?: string;
  readonly timeline?: number;
}

/** What the source's history has, in order. */
export interface History {
  readonly system: string;
  /** The first one, and a later one that only the repository on a volume has. */
  readonly labels: readonly [string, string];
  /** A moment, a place and a transaction after row 3 and before the table `orders` was dropped. */
  readonly time: string;
  readonly lsn: string;
  readonly transaction: string;
  /** Of the last row. The archive goes on for two seconds after that. */
  readonly lastCommit: string;
  readonly rows: number;
}

interface Asked {
  readonly target: Target;
  readonly label?: string;
  readonly uid?: string;
  /** Settings of the repository. */
  readonly place?: readonly string[];
  /** Below `/tmp`, the directory of a repository on a volume. */
  readonly readOnly?: string;
  readonly volume: string;
  readonly parts?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes that the volume has, where it has few. */
  readonly bytes?: number;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look at what the program says
export type Outcome = any;

export class RestoreStage {
  readonly containers: Containers;
  readonly store: S3Store;
  readonly #authority: CertifiedKey;
  readonly #port: number;
  history!: History;

  private constructor(containers: Containers, store: S3Store, authority: CertifiedKey, port: number) {
    this.containers = containers;
    this.store = store;
    this.#authority = authority;
    this.#port = port;
  }

  static async start(): Promise<RestoreStage> {
    const store = await S3Store.start();
    await store.makeBucket(bucket);
    const authority = await createAuthority({ commonName: "authority", lifetimeMs, now: new Date() });
    const stage = new RestoreStage(await Containers.start([]), store, authority, await freePort());
    stage.containers.write("store-ca.crt", store.caCertificate);
    stage.containers.write("source.conf", stage.#sourceSettings().join("\n"));
    const told = await stage.shell(historyScript);
    stage.history = JSON.parse(told.split("\n").at(-1) as string);
    return stage;
  }

  async stop(): Promise<void> {
    await this.containers.stop();
    await this.store[Symbol.asyncDispose]();
  }

  get bucket(): string[] {
    const { endpoint, region } = this.store;
    const settings = [
      `s3-bucket=${bucket}`,
      `s3-endpoint=${endpoint}`,
      `s3-region=${region}`,
      "s3-uri-style=path",
      "storage-ca-file=/tmp/store-ca.crt",
    ];
    return ["type=s3", "path=/prefix", ...settings].map((each) => `repo1-${each}`);
  }

  #sourceSettings(): string[] {
    const { accessKeyId, secretAccessKey } = this.store;
    const others = [
      ...[...places.encrypted, `repo1-cipher-pass=${passphrase}`].map((each) => each.replace("repo1", "repo2")),
      ...[...this.bucket, `repo1-s3-key=${accessKeyId}`, `repo1-s3-key-secret=${secretAccessKey}`].map((each) =>
        each.replace("repo1", "repo3"),
      ),
    ];
    const options = [
      "repo1-bundle=y",
      "repo1-block=y",
      "compress-type=zst",
      "start-fast=y",
      "log-level-file=off",
      "lock-path=/tmp/source/locks",
    ];
    return [
      "[global]",
      ...places.volume,
      ...others,
      ...options,
      `[${stanza}]`,
      "pg1-path=/tmp/source/data",
      "pg1-socket-path=/tmp/source",
      "pg1-database=app",
      "",
    ];
  }

  async shell(script: string): Promise<string> {
    const { code, text } = await this.containers.run(["bash", "-euc", script]);
    if (code !== 0) throw new Error(`${script.slice(0, 200)} ended with ${code}: ${text}`);
    return text;
  }

  /** The files of a run, as the operator mounts them. */
  async #mount({ target, label, uid = "restore", place = places.volume }: Asked): Promise<void> {
    const roles = { superuser: "postgres", replication: "replication", application: "app" };
    const asked = { stanza, label: label ?? null, target, uid, operator: "shop/new/operator", roles, database: "app" };
    const { accessKeyId, secretAccessKey } = this.store;
    const files = {
      "run/repository/pgbackrest.conf": ["[global]", ...place, `[${stanza}]`, ""].join("\n"),
      "run/repository/run.json": JSON.stringify(asked),
      "run/encryption/passphrase": passphrase,
      "run/store/accessKeyId": accessKeyId,
      "run/store/secretAccessKey": secretAccessKey,
      "clean/repository/run.json": JSON.stringify(asked),
      message: "",
    };
    for (const [name, text] of Object.entries(files)) this.containers.write(name, text);
    for (const [role, password] of Object.entries(passwords))
      for (const directory of ["run", "clean"]) this.containers.write(`${directory}/passwords/${role}/password`, `${password}\n`);
    await this.#certify("restore", "run/tls");
  }

  async #certify(role: string, directory: string): Promise<CertifiedKey> {
    const asked = {
      commonName: `shop/new/${role}`,
      dnsNames: ["new-restore"],
      usages: ["server", "client"],
      lifetimeMs,
      now: new Date(),
    } as const;
    const made = await issueCertificate(this.#authority, asked);
    for (const [name, text] of Object.entries({ "ca.crt": this.#authority.certificate, "tls.crt": made.certificate, "tls.key": made.key }))
      this.containers.write(`${directory}/${name}`, text);
    return made;
  }

  /** Begins a run as the Job of a Restore does. */
  async begin(asked: Asked) {
    await this.#mount(asked);
    return await this.again(asked);
  }

  /** The next container of the same Job. It has of the mounted files what is below `run`, or `clean`. */
  async again({ volume, parts = [], readOnly = "store", env = {}, bytes }: Omit<Asked, "target">) {
    await this.shell(`mkdir -p /tmp/volumes/${volume}`);
    return this.containers.spawn(["run-restore", ...parts], {
      readOnly: [readOnly],
      unnamed: true,
      ...(bytes === undefined ? {} : { small: { path: `volumes/${volume}`, bytes } }),
      env: {
        MOUNTED: parts[0] === "clean" ? "/tmp/clean" : "/tmp/run",
        MEMORY: "/tmp/run-memory",
        WORK: "/tmp/work",
        VOLUME: `/tmp/volumes/${volume}`,
        PORT: String(this.#port),
        TERMINATION_LOG: "/tmp/message",
        SECONDS_TO_FETCH: "0",
        SECONDS_BETWEEN_LOOKS: "0.1",
        SECONDS_FOR_THE_LOCK: "0",
        ...env,
      },
    });
  }

  /** What the Job tells that looks into the repository before a restore. */
  async look(asked: Omit<Asked, "volume">): Promise<Outcome> {
    await this.#mount({ ...asked, volume: "" });
    const env = { MOUNTED: "/tmp/run", MEMORY: "/tmp/run-memory", TERMINATION_LOG: "/tmp/message" };
    return this.outcome(
      await ended(this.containers.spawn(["look-into-repository"], { readOnly: [asked.readOnly ?? "store"], unnamed: true, env })),
    );
  }

  /** Runs it to its end; resolves to the termination message. */
  async restore(asked: Asked): Promise<Outcome> {
    return this.outcome(await ended(await this.begin(asked)));
  }

  outcome({ code, text }: Ended): Outcome {
    const message = readFileSync(this.containers.path("message"));
    if (message.length === 0) throw new Error(`no message was left: ${text}`);
    if (message.length > 4000) throw new Error(`the message has ${message.length} bytes`);
    for (const secret of [passphrase, this.store.secretAccessKey, ...Object.values(passwords)])
      if (secret !== "replication" && text.includes(secret)) throw new Error(`a secret is told: ${text}`);
    const outcome = JSON.parse(message.toString());
    if ((code === 0) !== (outcome.outcome === "succeeded")) throw new Error(`ended with ${code} and ${message}`);
    return outcome;
  }

  /** Starts the restored directory as a plain server, asks it as its superuser, and stops it. */
  async ask(volume: string, ...questions: readonly string[]): Promise<string[]> {
    const data = `/tmp/volumes/${volume}/data`;
    const options = `-c listen_addresses= -c unix_socket_directories=/tmp/volumes/${volume} -c max_prepared_transactions=5 -c track_commit_timestamp=on -c fsync=off`;
    const asked = questions.map((each) => `-c "${each}"`).join(" ");
    const text = await this.shell(`pg_ctl -D ${data} -w -s -l /tmp/plain.log -o "${options}" start
      trap 'pg_ctl -D ${data} -s -m immediate stop' EXIT
      psql -h /tmp/volumes/${volume} -U postgres -d app -XAtqv ON_ERROR_STOP=1 ${asked}`);
    return text.split("\n");
  }

  /** The files of a volume, without its data. */
  files(volume: string): string[] {
    return readdirSync(this.containers.path("volumes", volume)).sort();
  }

  /** The segments of the repository on a volume, by name: the path of each below `/tmp`. */
  segments(): Map<string, string> {
    const names = readdirSync(this.containers.path("store/archive", stanza, "17-1"), { recursive: true, encoding: "utf8" });
    const found = names.flatMap((name) =>
      /\/([0-9A-F]{24})-/.exec(name) ? [[name.split("/")[1]?.slice(0, 24) ?? "", name] as const] : [],
    );
    return new Map(found.sort());
  }

  /** A copy of the repository on a volume, changed by a script that runs in the directory of its archive. */
  async damaged(name: string, script: string): Promise<{ place: string[]; readOnly: string }> {
    await this.shell(`cp -a /tmp/store /tmp/${name}; cd /tmp/${name}/archive/${stanza}/17-1; ${script}`);
    return { place: [`repo1-path=/tmp/${name}`], readOnly: name };
  }

  /** What a run that is under way tells this client. */
  async progress(role: string): Promise<{ status: number; body: string }> {
    const { certificate, key } = await this.#certify(role, "client");
    const connection = { host: "127.0.0.1", port: this.#port, servername: "new-restore", ca: this.#authority.certificate };
    return await new Promise((resolve, reject) => {
      const asked = request({ ...connection, cert: certificate, key, agent: false, path: "/progress" }, async (answer) => {
        let body = "";
        for await (const part of answer) body += part;
        resolve({ status: answer.statusCode ?? 0, body });
      });
      asked.on("error", reject).end();
    });
  }

  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      if (await holds()) return;
      await sleep(50);
    }
    throw new Error(`${what}: not within 30 s`);
  }
}

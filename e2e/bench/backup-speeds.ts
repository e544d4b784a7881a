// How long backups and restores take, beside the bare tools on the same node and on the same kind of disk; and what applications notice.
import type { BackupSpec, BackupStatus } from "../../api/backup.ts";
import { say } from "../../tools/progress.ts";
import { Runs } from "../database/runs.ts";
import { diskClaim, startPods, toolbox } from "../suites/toolbox.ts";
import { changeOnePercent, gigabytes, type Subject, transactions, volumeSize } from "./backup-data.ts";
import { type Figure, median } from "./figures.ts";
import { podOf, timedRestore } from "./timed-run.ts";

const bare = "bare";
const chunkSeconds = 4;
const chunksAlone = 5;
/** An hour, which is enough for 10 GB on a slow disk. */
const longestMs = 3_600_000;

/** A Backup, in seconds. */
interface Measured {
  readonly name: string;
  readonly status: BackupStatus;
  /** From the manifest to Succeeded. */
  readonly whole: number;
  readonly verification: number;
}

export class Speeds {
  readonly #subject: Subject;
  readonly #rounds: number;
  readonly #runs: Runs;
  readonly #fulls: Measured[] = [];
  #hasTools = false;

  constructor(subject: Subject, rounds: number) {
    this.#subject = subject;
    this.#rounds = rounds;
    this.#runs = new Runs(subject.namespace, subject.database.name, longestMs);
  }

  /** In turn, so that a machine that gets slower does so for both. */
  async full(): Promise<Figure[]> {
    const alone: number[] = [];
    for (let round = 0; round < this.#rounds; round++) {
      await this.#measuredFull(`full-${round}`);
      alone.push(await this.#baseBackup());
    }
    const peer = median(alone);
    const { databaseBytes = 0, repositoryBytes = 1 } = this.#fulls[0]?.status ?? {};
    say(`${(databaseBytes / 1e9).toFixed(2)} GB, compressed to a ${(databaseBytes / repositoryBytes).toFixed(1)}th`);
    return [
      { what: "full backup, without verification", unit: "s", ours: median(this.#fulls.map(copying)), peer, wanted: { mostTimesPeer: 2 } },
      { what: "of it pgBackRest", unit: "s", ours: median(this.#fulls.map(({ status }) => status.copySeconds ?? 0)), peer },
      { what: "verification", unit: "s", ours: median(this.#fulls.map(({ verification }) => verification)) },
    ];
  }

  async incremental(): Promise<Figure[]> {
    if (this.#fulls.length === 0) await this.#measuredFull("full-before");
    const made: Measured[] = [];
    for (let round = 0; round < this.#rounds; round++) {
      await changeOnePercent(this.#subject, round);
      made.push(await this.#measured(`incremental-${round}`, "Incremental"));
    }
    const wanted = { mostTimesPeer: gigabytes >= 10 ? 0.25 : 0.6 };
    const of = (what: string, figure: (one: Measured) => number, unit = "s"): Figure => ({
      ...{ what, unit, ours: median(made.map(figure)), peer: median(this.#fulls.map(figure)) },
    });
    return [
      { ...of("incremental backup after 1 %, without verification", copying), wanted },
      of("of it pgBackRest", ({ status }) => status.copySeconds ?? 0),
      of("verification", ({ verification }) => verification),
      of("in the repository", ({ status }) => (status.repositoryBytes ?? 0) / 1e6, "MB"),
    ];
  }

  /** Alone, from a checkpoint on, because a backup begins with one; and while a full backup runs. */
  async load(): Promise<Figure[]> {
    const { database } = this.#subject;
    const [alone, during, seconds]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < this.#rounds; round++) {
      await database.sql("CHECKPOINT", { superuser: true });
      for (let chunk = 0; chunk < chunksAlone; chunk++) alone.push(await transactions(this.#subject, chunkSeconds));
      let isOver = false;
      const backup = this.#measured(`loaded-${round}`, "Full").finally(() => {
        isOver = true;
      });
      await podOf(this.#subject.namespace, "backup");
      while (!isOver) {
        const tps = await transactions(this.#subject, chunkSeconds);
        if (!isOver) during.push(tps);
        say(`during a backup: ${tps.toFixed(0)} transactions a second`);
      }
      seconds.push((await backup).whole);
    }
    const shown = (rates: readonly number[]) => rates.map((rate) => rate.toFixed(0)).join(" ");
    say(`transactions a second alone: ${shown(alone)}; during a backup: ${shown(during)}`);
    return [
      { what: "pgbench during a backup", unit: "/s", ours: median(during), peer: median(alone), wanted: { leastTimesPeer: 0.85 } },
      {
        ...{ what: "that backup, with verification", unit: "s", ours: median(seconds) },
        ...(this.#fulls.length > 0 ? { peer: median(this.#fulls.map(({ whole }) => whole)) } : {}),
      },
    ];
  }

  /** To the end of the archive, with some log to replay. */
  async restore(): Promise<Figure[]> {
    const { namespace, database, archive } = this.#subject;
    const { name } = this.#fulls.at(-1) ?? (await this.#measuredFull("full-restored"));
    await transactions(this.#subject, 20);
    await archive.complete({ deadlineMs: 600_000 });
    const plain = await this.#plainCopy();
    const spec = { source: { backupName: name }, destination: { type: "New", sampleDBName: "bench-restored", overrides: { replicas: 1 } } };
    const { status, whole, copy, recovery, replay } = await timedRestore(namespace, this.#runs, "bench-restored", spec);
    say(`the copy took ${copy} s, a plain one ${plain.toFixed(1)} s; the replay took ${replay} s of ${recovery} s`);
    await this.#runs.succeeds("Backup", status.firstBackupName ?? ""); // it needs the instance that is deleted next
    await namespace.run("delete", "restores.sampledb.io", "bench-restored", "--request-timeout=0");
    await namespace.run("delete", "sampledbs.sampledb.io", "bench-restored", "--timeout=240s", "--request-timeout=0");
    const what = `restore of ${database.name}: copy and recovery, beside a plain copy and PostgreSQL's replay`;
    return [
      { what, unit: "s", ours: copy + recovery, peer: plain + replay, wanted: { mostTimesPeer: 1.3 } },
      { what: "from the Restore's manifest to Succeeded", unit: "s", ours: whole, peer: plain + replay },
    ];
  }

  async #measuredFull(name: string): Promise<Measured> {
    const measured = await this.#measured(name, "Full");
    this.#fulls.push(measured);
    return measured;
  }

  async #measured(name: string, type: BackupSpec["type"]): Promise<Measured> {
    const begin = performance.now();
    const status = await this.#runs.backUp(name, type);
    const whole = (performance.now() - begin) / 1000;
    const verification = status.verification?.seconds ?? 0;
    say(`${name}: ${whole.toFixed(1)} s, of it copying ${status.copySeconds} s, verification ${verification} s`);
    return { name, status, whole, verification };
  }

  /** Over the network, with TLS, by the user who may: as pgBackRest does it. */
  async #baseBackup(...options: readonly string[]): Promise<number> {
    const { namespace, database } = this.#subject;
    await this.#startTools();
    const secret = await namespace.get("secret", `${database.name}-replication`);
    const value = (key: string) => Buffer.from(secret?.["data"][key] ?? "", "base64").toString();
    const format = options.length > 0 ? options.join(" ") : "--format=tar --compress=client-zstd";
    const connection = `host=${database.name}-rw user=${value("username")} sslmode=require`;
    const command = `PGPASSWORD='${value("password")}' pg_basebackup --dbname='${connection}' --checkpoint=fast --pgdata=/data/base ${format}`;
    const seconds = await this.#timed(`rm -rf /data/base && sync -f /data`, command);
    say(`pg_basebackup: ${seconds.toFixed(1)} s`);
    return seconds;
  }

  /** The database's files, byte by byte, and then on the disk for sure, as pgBackRest leaves them. */
  async #plainCopy(): Promise<number> {
    await this.#baseBackup("--format=plain");
    return await this.#timed("sync -f /data", "cp --recursive --reflink=never /data/base /data/copy && sync -f /data");
  }

  async #timed(before: string, command: string): Promise<number> {
    const script = `${before} && begin=$(date +%s%N) && ${command} && echo $(( $(date +%s%N) - begin ))`;
    const told = await this.#subject.namespace.run("exec", bare, "--request-timeout=0", "--", "sh", "-c", script);
    return Number(told.trim().split("\n").at(-1)) / 1e9;
  }

  async #startTools(): Promise<void> {
    if (this.#hasTools) return;
    const { namespace, node } = this.#subject;
    await startPods(namespace, diskClaim(bare, volumeSize), toolbox(bare, { node, claim: bare }));
    this.#hasTools = true;
  }
}

const copying = ({ whole, verification }: Measured) => whole - verification;

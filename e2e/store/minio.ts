// One MinIO on loopback with a directory of its own, both of which go when it is stopped. Nobody but the store talks to it.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLog } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { freePort } from "../../tools/free-port.ts";
import { minioProgram } from "./minio-program.ts";
import { S3Client } from "./s3-client.ts";
import type { AccessKey } from "./signature.ts";

export class Minio {
  readonly port: number;
  /** The owner of everything. */
  readonly root: AccessKey = { accessKeyId: "root", secretAccessKey: randomBytes(20).toString("hex") };
  /** With the root's key, past every fault. */
  readonly client: S3Client;
  readonly #directory: string;
  #child: ChildProcess | undefined;

  private constructor(directory: string, port: number) {
    this.#directory = directory;
    this.port = port;
    this.client = new S3Client({ endpoint: `http://127.0.0.1:${port}`, ...this.root });
  }

  static async start(): Promise<Minio> {
    const program = await minioProgram();
    const minio = new Minio(mkdtempSync(join(tmpdir(), "sampledb-store-")), await freePort());
    try {
      await minio.#run(program);
      return minio;
    } catch (error) {
      await minio.stop();
      throw error;
    }
  }

  async #run(program: string): Promise<void> {
    const logFile = join(this.#directory, "minio.log");
    const log = openLog(logFile);
    const command = [program, "server", join(this.#directory, "data"), `--address=127.0.0.1:${this.port}`];
    // The kernel ends it with us.
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...command], {
      env: {
        PATH: process.env["PATH"],
        HOME: this.#directory, // what a user has told a MinIO of their own is none of ours
        MINIO_ROOT_USER: this.root.accessKeyId,
        MINIO_ROOT_PASSWORD: this.root.secretAccessKey,
        MINIO_BROWSER: "off",
        MINIO_UPDATE: "off", // it asks nobody outside for news
      },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    this.#child = child;
    await eventually("MinIO answers", 60_000, async () => {
      if (child.exitCode !== null) throw new Error(`MinIO exited with ${child.exitCode}: ${readFileSync(logFile, "utf8").trim()}`);
      const answer = await this.client.send("GET", "/").catch(() => undefined);
      return answer?.status === 200;
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

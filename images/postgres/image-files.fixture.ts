// The image's file system on this machine, and programs in it: real PostgreSQL and real pgBackRest, as in a Pod and without a cluster.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cacheDirectory, forgetOldest, makeOnce, touch } from "../../tools/cache.ts";
import { run } from "../../tools/command.ts";
import { imageArchive } from "../archive.ts";
import { postgresImage } from "../catalog.ts";

const user = 10001;
const copiesKept = 4; // other checkouts may be using theirs

/** Unpacked once for each image, into the build cache. */
async function unpackedImage(): Promise<string> {
  const { archive, fingerprint } = await imageArchive(postgresImage("17"));
  const files = join(cacheDirectory, "postgres-files", fingerprint);
  if (!existsSync(files)) await makeOnce(files, (unfinished) => unpack(archive, unfinished));
  touch(files);
  forgetOldest(dirname(files), /^[0-9a-f]+$/, copiesKept);
  return files;
}

async function unpack(archive: string, files: string): Promise<void> {
  const layers = `${files}-layers`;
  for (const directory of [files, layers]) mkdirSync(directory);
  await run("tar", ["--extract", "--file", archive, "--directory", layers]);
  const [manifest] = JSON.parse(readFileSync(join(layers, "manifest.json"), "utf8")) as [{ Layers: string[] }];
  for (const layer of manifest.Layers)
    await run("tar", ["--extract", "--preserve-permissions", "--exclude", ".wh.*", "--file", join(layers, layer), "--directory", files]);
  writeFileSync(join(files, "etc/hosts"), "");
  rmSync(layers, { recursive: true });
}

/**
 * Containers that share one `/tmp`, and this machine's network. Each program runs as in a Pod: with a read-only root, as a user without rights.
 * With a program end all that it has started, also where the test is killed. Needs root.
 */
export class Containers {
  readonly #files: string;
  /** What they see as `/tmp`. */
  readonly directory = mkdtempSync(join(tmpdir(), "containers-"));
  readonly #running = new Set<ChildProcess>();

  private constructor(files: string) {
    this.#files = files;
  }

  /** Builds the image where it is not in the cache, which takes a minute. `names` are those of this machine. */
  static async start(names: readonly string[]): Promise<Containers> {
    const containers = new Containers(await unpackedImage());
    chownSync(containers.directory, user, 0);
    containers.write("hosts", `127.0.0.1 localhost ${names.join(" ")}\n`);
    containers.write("passwd", "root:x:0:0:root:/:/bin/sh\n");
    for (const name of ["hosts", "passwd"]) chmodSync(containers.path(name), 0o644);
    return containers;
  }

  path(...names: readonly string[]): string {
    return join(this.directory, ...names);
  }

  /** A file that only the user of the containers can read. */
  write(name: string, text: string): void {
    const parts = name.split("/");
    for (let depth = 1; depth < parts.length; depth++) {
      const directory = this.path(...parts.slice(0, depth));
      if (existsSync(directory)) continue;
      mkdirSync(directory, { mode: 0o700 });
      chownSync(directory, user, 0);
    }
    writeFileSync(this.path(name), text, { mode: 0o600 });
    chownSync(this.path(name), user, 0);
  }

  /**
   * Below `/tmp`, the paths in `readOnly` can't be written, and that of `small` is a volume of its own with that many bytes. `unnamed`: the
   * user has no name there, as on OpenShift.
   */
  spawn(command: readonly string[], { env = {}, readOnly = [], small, unnamed = false }: ContainerOptions = {}): ChildProcess {
    const mounts = [
      "mount --bind $files $files",
      "mount --rbind /dev $files/dev",
      "mount -t proc proc $files/proc",
      "mount --bind $shared $files/tmp",
      ...readOnly.map((path) => `mount --bind $files/tmp/${path} $files/tmp/${path}; mount -o remount,bind,ro $files/tmp/${path}`),
      ...(small ? [`mount -t tmpfs -o size=${small.bytes},uid=${user} tmpfs $files/tmp/${small.path}`] : []),
      "mount --bind $shared/hosts $files/etc/hosts",
      ...(unnamed ? ["mount --bind $shared/passwd $files/etc/passwd"] : []),
      "mount -o remount,bind,ro $files",
    ];
    touch(this.#files); // in use: another checkout that makes a new one removes the oldest
    // The shell stays, and ends with `unshare`; whoever changes the user is no longer told of its parent's end.
    const variables = { PATH: imagePath, HOME: "/tmp", LANG: "C.UTF-8", TZ: "UTC", ...env };
    const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const script = `set -e; files=$1 shared=$2; shift 2; ${mounts.join("; ")}; set +e
chroot --userspec=${user}:0 $files env -i -C /tmp "$@"; exit $?`;
    const child = spawn(
      "setpriv",
      ["--pdeathsig", "KILL", "--", "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--"].concat(
        ["sh", "-c", script, "sh", this.#files, this.directory, ...assignments],
        command,
      ),
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    this.#running.add(child);
    child.once("close", () => this.#running.delete(child));
    return child;
  }

  /** A signal to the process of this program, or to one that it has started: by its command. */
  async signal(child: ChildProcess, command: string, name: NodeJS.Signals): Promise<void> {
    const parents = new Set([child.pid as number]);
    let signalled = 0;
    for (const line of (await run("ps", ["-eo", "pid=,ppid=,args=", "--sort", "start_time"])).split("\n")) {
      const [, pid, parent, args] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
      if (!parents.has(Number(parent))) continue;
      parents.add(Number(pid));
      if (args === command) signalled += Number(process.kill(Number(pid), name));
    }
    if (signalled === 0) throw new Error(`there is no process ${command}`);
  }

  /** Resolves to the exit code and what was printed. */
  async run(command: readonly string[], options: ContainerOptions = {}): Promise<Ended> {
    return await ended(this.spawn(command, options));
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.#running].map(async (child) => {
        child.kill("SIGKILL");
        await new Promise((resolve) => child.once("close", resolve));
      }),
    );
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const imagePath = "/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/bin:/bin";

interface ContainerOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly readOnly?: readonly string[];
  readonly small?: { readonly path: string; readonly bytes: number };
  readonly unnamed?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly text: string;
}

export async function ended(child: ChildProcess): Promise<Ended> {
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, text: text.trim() };
}

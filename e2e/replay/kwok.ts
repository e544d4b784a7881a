// kwok, which plays the kubelets of nodes that are nowhere: built once from the pinned module, kept in the build cache, run beside a plane.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { cacheDirectory, fingerprint, touch } from "../../tools/cache.ts";
import { openLog, run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { buildGo } from "../../tools/go-build.ts";
import { step } from "../../tools/progress.ts";
import { projectDirectory } from "../cluster/plan.ts";
import type { StandaloneControlPlane } from "../cluster/standalone.ts";
import { nodesTakePods } from "./nodes.ts";

const source = join(import.meta.dirname, "kwok");
const ownStages = join(import.meta.dirname, "stages.yaml");

/** As pinned in go.mod, so that they are written in one place. */
const modules = readFileSync(join(source, "go.mod"), "utf8");
const version = /sigs\.k8s\.io\/kwok (v\S+)/.exec(modules)?.[1] ?? "unknown";
const goVersion = /^go (\d+\.\d+)/m.exec(modules)?.[1] ?? "unknown";

const buildsKept = 2;
const buildFlags = ["-trimpath", "-ldflags=-s -w"];

/** Of those that kwok comes with: nodes that are well, Pods that run at once, and end at once if a Job made them. */
const stages = [
  "node/fast/node-initialize",
  "node/heartbeat-with-lease/node-heartbeat-with-lease",
  "pod/fast/pod-ready",
  "pod/fast/pod-complete",
];

const flags = [
  "--manage-all-nodes",
  "--node-lease-duration-seconds=40",
  "--node-ip=127.0.0.1",
  "--cidr=127.100.0.0/16", // of Pods: addresses of this machine, for Patroni to be answered for there
];

/** Plays all nodes of the plane from now on, and what is on them. Resolves when they take Pods. */
export async function startKwok(directory: string, plane: StandaloneControlPlane, client: KubeClient): Promise<ChildProcess> {
  const configs = [ownStages, ...stages.map((name) => join(directory, "stages", `${name}.yaml`))].map((file) => `--config=${file}`);
  const command = [join(directory, "kwok"), `--kubeconfig=${plane.kubeconfig}`, ...flags, ...configs];
  const logFile = join(plane.directory, "log/kwok.log");
  const log = openLog(logFile);
  // The kernel ends it with us, as the parts of the plane.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...command], {
    env: { ...process.env, KWOK_WORKDIR: plane.directory }, // what a user has told a kwok of their own is none of ours
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const lastWords = () => readFileSync(logFile, "utf8").trim().split("\n").at(-1);
  try {
    await eventually("kwok's nodes take Pods", 60_000, async () => {
      if (child.exitCode !== null) throw new Error(`kwok exited with ${child.exitCode}: ${lastWords()}`);
      return await nodesTakePods(client);
    });
    return child;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

/** The folder with the built program and the stages that come with it. */
export async function kwokDirectory(): Promise<string> {
  const directory = join(cacheDirectory, "kwok", fingerprint([source], [...buildFlags, ...stages, process.arch]));
  if (existsSync(directory)) touch(directory);
  else await step(`building kwok ${version} from source (minutes, once)`, () => build(directory));
  return directory;
}

async function build(directory: string): Promise<void> {
  const build = {
    what: "kwok",
    source,
    leastGo: goVersion,
    askIn: source,
    arguments: (unfinished: string) => [...buildFlags, "-o", join(unfinished, "kwok"), "sigs.k8s.io/kwok/cmd/kwok"],
    failure: "could not build kwok",
    log: join(projectDirectory, "build/logs/kwok.log"),
    buildsKept,
  };
  await buildGo(directory, build, async (unfinished) => {
    const sources = (await run("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"], { cwd: source })).trim();
    for (const name of stages) cpSync(join(sources, "kustomize/stage", `${name}.yaml`), join(unfinished, "stages", `${name}.yaml`));
  });
}

// The Kubernetes programs, built once from the pinned Go modules and kept in the build cache.
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheDirectory, fingerprint, forgetOldest, makeOnce, touch } from "../../tools/cache.ts";
import { CommandError, ProgramMissing, run } from "../../tools/command.ts";
import { Refusal, step } from "../../tools/progress.ts";
import { projectDirectory } from "./plan.ts";

const source = join(import.meta.dirname, "programs");
const buildLog = join(projectDirectory, "build/logs/programs.log");

/** As pinned in go.mod, so that it is written in one place. */
const kubernetesVersion = /k8s\.io\/kubernetes (v\S+)/.exec(readFileSync(join(source, "go.mod"), "utf8"))?.[1] ?? "unknown";
const [major, minor] = kubernetesVersion.slice(1).split(".");

const kubernetesPrograms = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "kubectl",
  "volume-controller",
];

/** A cluster runs on the build that it was started with: those of other checkouts must not go under their feet. */
const buildsKept = 4;

const buildFlags = [
  "-trimpath",
  `-ldflags=-s -w ${[
    `k8s.io/component-base/version.gitVersion=${kubernetesVersion}`,
    `k8s.io/component-base/version.gitMajor=${major}`,
    `k8s.io/component-base/version.gitMinor=${minor}`,
    `k8s.io/client-go/pkg/version.gitVersion=${kubernetesVersion}`,
  ]
    .map((value) => `-X ${value}`)
    .join(" ")}`,
];

/** The folder with a file or link for each program, as KUBEBUILDER_ASSETS has it. */
export async function programsDirectory(): Promise<string> {
  const directory = join(cacheDirectory, "programs", fingerprint([source], [...buildFlags, process.arch]));
  if (existsSync(directory)) {
    touch(directory);
    return directory;
  }
  await step(`building Kubernetes ${kubernetesVersion}, etcd and CoreDNS from source (minutes, once)`, () => build(directory));
  return directory;
}

async function build(directory: string): Promise<void> {
  await requireGo();
  await makeOnce(directory, async (unfinished) => {
    mkdirSync(unfinished);
    try {
      await run("go", ["mod", "download"], { cwd: source, logFile: buildLog });
    } catch (error) {
      throw explain(error, "could not download the Go modules: check the network and GOPROXY, then run it again");
    }
    try {
      const env = { CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOOS: "linux" };
      await run("go", ["build", ...buildFlags, "-o", `${unfinished}/`, "./kubernetes", "./coredns", "./pause"], {
        cwd: source,
        env,
        logFile: buildLog,
      });
    } catch (error) {
      throw explain(error, "could not build the Kubernetes programs");
    }
    for (const program of kubernetesPrograms) symlinkSync("kubernetes", join(unfinished, program));
  });
  forgetOldest(dirname(directory), /^[0-9a-f]{16}$/, buildsKept);
}

async function requireGo(): Promise<void> {
  try {
    const version = /go(\d+)\.(\d+)/.exec(await run("go", ["env", "GOVERSION"]));
    if (Number(version?.[1]) === 1 && Number(version?.[2]) < 24) {
      throw new Refusal(`Go ${version?.[1]}.${version?.[2]} is too old to build Kubernetes ${kubernetesVersion}: install Go 1.24 or newer`);
    }
  } catch (error) {
    if (error instanceof ProgramMissing) {
      throw new Refusal(`Go is needed once, to build Kubernetes ${kubernetesVersion}: install Go 1.24 or newer and put it on PATH`);
    }
    throw error;
  }
}

function explain(error: unknown, sentence: string): unknown {
  return error instanceof CommandError ? new Refusal(`${sentence} (${buildLog} has the details)`) : error;
}

// The Kubernetes programs, built once from the pinned Go modules and kept in the build cache.
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, fingerprint, touch } from "../../tools/cache.ts";
import { buildGo, type GoBuild } from "../../tools/go-build.ts";
import { step } from "../../tools/progress.ts";
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
  const build: GoBuild = {
    what: `Kubernetes ${kubernetesVersion}`,
    source,
    leastGo: "1.24",
    arguments: (unfinished) => [...buildFlags, "-o", `${unfinished}/`, "./kubernetes", "./coredns", "./pause"],
    failure: "could not build the Kubernetes programs",
    log: buildLog,
    buildsKept,
  };
  await buildGo(directory, build, (unfinished) => {
    for (const program of kubernetesPrograms) symlinkSync("kubernetes", join(unfinished, program));
  });
}

// Whether the tests of the local Kubernetes have all passed with the files that they are made of as they are now. That is remembered in the
// build cache, which belongs to the machine: another kernel is another answer.
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { cacheDirectory, fingerprint } from "./cache.ts";

const root = join(import.meta.dirname, "..");
const directory = join(cacheDirectory, "whole-runs");

/** A change below these is a change to the local Kubernetes; the operator's own files come along with fixtures that others use as well. */
const ofCluster = /^(e2e|tools|images)\//;

/** Files and folders that the tests of the local Kubernetes depend on: what they import, and all that a cluster is made from. */
export async function clusterFiles(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [...globSync("e2e/**/*.cluster.test.ts", { cwd: root }), "e2e/suites/cluster-setup.ts", "e2e/cluster/cli.ts"],
    absWorkingDir: root,
    bundle: true,
    packages: "external", // the lock file stands for them
    platform: "node",
    format: "esm",
    outdir: "build",
    write: false,
    metafile: true,
  });
  const imported = Object.keys(metafile.inputs).filter((file) => ofCluster.test(file));
  return [...imported.sort(), "e2e/cluster", "package-lock.json"];
}

/** A name for the state of those files, on this machine. */
export async function clusterInputs(): Promise<string> {
  const files = (await clusterFiles()).map((file) => join(root, file));
  return fingerprint(files, [release(), process.version, process.arch]);
}

/** When all of them passed with these inputs; undefined when they never did. */
export function passedAt(inputs: string): string | undefined {
  try {
    return readFileSync(join(directory, inputs), "utf8").trim();
  } catch {
    return undefined;
  }
}

export function rememberPassed(inputs: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, inputs), `${new Date().toISOString()}\n`);
}

// Builds images with buildah, with all of its storage in the build cache.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "../tools/cache.ts";
import { CommandError, run } from "../tools/command.ts";
import type { Builder } from "./builder.ts";
import { isOnLoopback } from "./names.ts";
import { secondsToPull, succeedsWithin } from "./succeeds-within.ts";

const directory = join(cacheDirectory, "buildah");
/** The options that select this storage. */
export const storage = ["--root", join(directory, "storage"), "--runroot", join(directory, "run")];

/**
 * One buildah at a time on this machine, across processes: targets share layers, and two concurrent builds would each make them.
 * So a container that `clean` finds belongs to no running build.
 */
function alone(args: readonly string[], logFile?: string): Promise<string> {
  mkdirSync(directory, { recursive: true });
  return run("flock", [join(directory, "lock"), "buildah", ...storage, ...args], logFile === undefined ? {} : { logFile });
}

export const buildah: Builder = {
  name: "buildah",

  async build(recipe, logFile) {
    const options = [
      ...["--isolation", "chroot", "--network", "host", "--layers"],
      ...["--format", "docker"], // an image keeps its id, and with it its cached layers, on its way through an archive
      "--pull-never", // bases are in the storage by now, and a registry that does not answer would delay the build by minutes
      ...(recipe.target === undefined ? [] : ["--target", recipe.target]),
      ...Object.entries(recipe.buildArguments).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
    ];
    await alone(["bud", ...options, "--tag", recipe.reference, "--file", recipe.dockerfile, recipe.context], logFile);
  },

  async identify(reference) {
    try {
      return (await run("buildah", [...storage, "inspect", "--type", "image", "--format", "{{.FromImageID}}", reference])).trim();
    } catch (error) {
      if (error instanceof CommandError) return undefined;
      throw error;
    }
  },

  async pull(reference) {
    return succeedsWithin(secondsToPull, "buildah", [...storage, "pull", "--retry", "0", `docker://${reference}`]);
  },

  async push(reference, logFile) {
    const plain = isOnLoopback(reference) ? ["--tls-verify=false"] : [];
    await run("buildah", [...storage, "push", ...plain, reference, `docker://${reference}`], { logFile });
  },

  async save(reference, file) {
    await run("buildah", [...storage, "push", reference, `docker-archive:${file}:${reference}`]);
  },

  async load(file) {
    await run("buildah", [...storage, "pull", `docker-archive:${file}`]);
  },

  async clean() {
    await alone(["rm", "--all"]);
    await alone(["rmi", "--prune"]);
  },
};

// Builds images with a Docker engine.
import { CommandError, run } from "../tools/command.ts";
import type { Builder } from "./builder.ts";
import { secondsToPull, succeedsWithin } from "./succeeds-within.ts";

export const docker: Builder = {
  name: "docker",

  async build(recipe, logFile) {
    const options = [
      ...(recipe.target === undefined ? [] : ["--target", recipe.target]),
      ...Object.entries(recipe.buildArguments).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
    ];
    await run("docker", ["build", ...options, "--tag", recipe.reference, "--file", recipe.dockerfile, recipe.context], {
      env: { DOCKER_BUILDKIT: "1" },
      logFile,
    });
  },

  async identify(reference) {
    try {
      return (await run("docker", ["image", "inspect", "--format", "{{.Id}}", reference])).trim();
    } catch (error) {
      if (error instanceof CommandError) return undefined;
      throw error;
    }
  },

  async pull(reference) {
    return succeedsWithin(secondsToPull, "docker", ["pull", reference]);
  },

  async push(reference, logFile) {
    await run("docker", ["push", reference], { logFile });
  },

  async save(reference, file) {
    await run("docker", ["save", "--output", file, reference]);
  },

  async load(file) {
    await run("docker", ["load", "--input", file]);
  },

  // The engine's storage belongs to the user: only they know what may be removed.
  async clean() {},
};

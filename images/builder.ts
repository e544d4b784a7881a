// The program that builds images: a Docker engine if one answers, otherwise buildah.
import { succeeds } from "../tools/command.ts";
import { Refusal } from "../tools/progress.ts";
import { buildah } from "./buildah.ts";
import { docker } from "./docker.ts";
import { succeedsWithin } from "./succeeds-within.ts";

interface Recipe {
  readonly reference: string;
  readonly dockerfile: string;
  readonly context: string;
  readonly target?: string;
  readonly buildArguments: Readonly<Record<string, string>>;
}

export interface Builder {
  readonly name: string;
  build(recipe: Recipe, logFile: string): Promise<void>;
  /** The id of the image that the builder has under this reference; undefined if it has none. */
  identify(reference: string): Promise<string | undefined>;
  /** True if a registry delivered the image within a bounded time. */
  pull(reference: string): Promise<boolean>;
  push(reference: string, logFile: string): Promise<void>;
  /** Writes an uncompressed docker-archive, as `ctr images import` reads it. */
  save(reference: string, file: string): Promise<void>;
  load(file: string): Promise<void>;
  /** Removes leftovers of earlier and interrupted builds that no image uses. */
  clean(): Promise<void>;
}

let chosen: Promise<Builder> | undefined;

/** The same builder for the whole run. */
export function chooseBuilder(): Promise<Builder> {
  chosen ??= choose();
  return chosen;
}

async function choose(): Promise<Builder> {
  const engineAnswers = await succeedsWithin(5, "docker", ["version", "--format", "{{.Server.Version}}"]);
  if (engineAnswers && (await succeeds("docker", ["buildx", "version"]))) return docker; // the Dockerfiles need BuildKit
  if (await succeeds("buildah", ["--version"])) return buildah;
  throw new Refusal("no Docker engine answers and buildah is not installed: start Docker, or apt-get install buildah mmdebstrap");
}

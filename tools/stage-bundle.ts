// The bundle as its image has it, in dist/bundle: with the images of IMAGE_REGISTRY by digest, or with those of this machine.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleDirectory, projectVersion } from "../images/catalog.ts";
import { Refusal, runProgram } from "./progress.ts";
import { packagesFor, publishedDigests } from "./published.ts";

export async function stageBundle(): Promise<{ readonly directory: string; readonly version: string }> {
  const { IMAGE_REGISTRY: registry, IMAGE_TAG: tag } = process.env;
  const version = projectVersion();
  if (tag && tag !== version)
    throw new Refusal(`IMAGE_TAG is ${tag}, and a bundle has one version, ${version} of package.json: leave it out`);
  const files = packagesFor(registry, registry ? await publishedDigests() : new Map());
  rmSync(bundleDirectory, { recursive: true, force: true });
  for (const [path, text] of files) {
    if (!path.startsWith("bundle/")) continue;
    const file = join(bundleDirectory, path.slice("bundle/".length));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { directory: bundleDirectory, version };
}

if (import.meta.main) await runProgram(async () => void (await stageBundle()));

// Chart and bundle with the names that images have in a registry.
import { join } from "node:path";
import { catalog, projectVersion } from "../images/catalog.ts";
import { imageReference } from "../images/definition.ts";
import { imageDigest } from "../images/registry.ts";
import { manifestFiles, sampleObjects } from "../packaging/config.ts";
import { packageFiles } from "../packaging/packages.ts";

const root = join(import.meta.dirname, "..");

/** What IMAGE_REGISTRY has under the names of our images. All are asked before anything is written. */
export async function publishedDigests(): Promise<Map<string, string>> {
  return new Map(
    await Promise.all(
      catalog()
        .map(imageReference)
        .map(async (name) => [name, await imageDigest(name)] as const),
    ),
  );
}

/** The files of chart and bundle by their path in the project, with the registry's images: by digest, where one is known. */
export function packagesFor(registry: string | undefined, digests: ReadonlyMap<string, string>): Map<string, string> {
  const config = join(root, "config");
  return packageFiles({
    version: projectVersion(),
    config: (folder) => manifestFiles(config, folder),
    samples: sampleObjects(config),
    environment: { IMAGE_REGISTRY: registry },
    digests,
  });
}

// The size of an image: of its layers on a node's disk, and compressed on the network.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { makeOnce } from "../tools/cache.ts";
import { run } from "../tools/command.ts";

export interface Layer {
  readonly digest: string;
  readonly bytes: number;
  /** Compressed by gzip, as registries store layers. */
  readonly bytesToPull: number;
}

/** The layers of a docker-archive, the base first. Measured once, then read from a file beside the archive. */
export async function imageLayers(archive: string): Promise<readonly Layer[]> {
  const measured = `${archive}.layers`;
  if (!existsSync(measured)) {
    await makeOnce(measured, async (unfinished) => {
      const [image] = JSON.parse(await run("tar", ["-xOf", archive, "manifest.json"])) as [{ Layers: string[] }];
      const layers: Layer[] = [];
      for (const file of image.Layers) layers.push(await measure(archive, file));
      writeFileSync(unfinished, JSON.stringify(layers));
    });
  }
  return JSON.parse(readFileSync(measured, "utf8")) as Layer[];
}

const known = new Map<string, Layer>(); // images share layers

async function measure(archive: string, file: string): Promise<Layer> {
  const layer = known.get(file) ?? {
    digest: file,
    // Some engines save layers compressed: gzip -cdf gives the plain layer in both cases.
    bytes: await count('tar -xOf "$1" "$2" | gzip -cdf | wc -c', archive, file),
    bytesToPull: await count('tar -xOf "$1" "$2" | gzip -cdf | gzip -6 | wc -c', archive, file),
  };
  known.set(file, layer);
  return layer;
}

async function count(pipeline: string, ...args: readonly string[]): Promise<number> {
  return Number(await run("sh", ["-c", pipeline, "sh", ...args]));
}

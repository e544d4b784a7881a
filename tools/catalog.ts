// make catalog: the file-based catalog of the bundle, in dist/catalog, and what makes an image of it.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { stringify } from "yaml";
import { bundleImage } from "../images/catalog.ts";
import { imageReference } from "../images/definition.ts";
import { exactReference } from "../images/names.ts";
import { imageDigest } from "../images/registry.ts";
import { packageName } from "../packaging/bundle/bundle.ts";
import { type ChannelEntry, catalogObjects, newestAlone } from "../packaging/bundle/catalog.ts";
import { opm, opmVersion } from "./opm.ts";
import { runProgram, say } from "./progress.ts";
import { stageBundle } from "./stage-bundle.ts";

const target = join(dirname(import.meta.dirname), "dist/catalog");
const opmImage = `quay.io/operator-framework/opm:${opmVersion}`;

export interface CatalogBundle {
  /** The bundle's folder. */
  readonly directory: string;
  /** The name of the bundle's image. Without one, the catalog itself has the bundle's objects. */
  readonly image?: string;
}

/** Writes the catalog of the bundles into the folder, which is made anew, and has opm validate it. */
export async function writeCatalog(folder: string, entries: readonly ChannelEntry[], bundles: readonly CatalogBundle[]): Promise<void> {
  const rendered: string[] = [];
  for (const bundle of bundles) rendered.push(await render(bundle));
  const own = catalogObjects(entries).map((object) => `---\n${stringify(object, { lineWidth: 0 })}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, packageName), { recursive: true });
  writeFileSync(join(folder, packageName, "catalog.yaml"), [...own, ...rendered].join(""));
  await opm("validate", folder);
}

/** A console reads the metadata of a version from the catalog, and OLM its objects from the image. */
async function render({ directory, image }: CatalogBundle): Promise<string> {
  const named = image === undefined ? [] : [`--alpha-image-ref-template=${image}`, "--migrate-level=bundle-object-to-csv-metadata"];
  return await opm("render", directory, "--output=yaml", ...named);
}

async function main(): Promise<void> {
  const { directory, version } = await stageBundle();
  const tagged = imageReference(bundleImage());
  const image = process.env["IMAGE_REGISTRY"] ? exactReference(tagged, await imageDigest(tagged, "make bundle-push")) : tagged;
  await writeCatalog(target, newestAlone(version), [{ directory, image }]);
  const dockerfile = `${target}.Dockerfile`;
  rmSync(dockerfile, { force: true }); // opm writes no file that is there
  await opm("generate", "dockerfile", target, `--base-image=${opmImage}`, `--builder-image=${opmImage}`);
  say(`dist/${basename(target)} has the catalog of ${image}, and dist/${basename(dockerfile)} makes an image of it`);
}

if (import.meta.main) await runProgram(main);

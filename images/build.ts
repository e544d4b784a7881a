// The program behind `make docker-build` and `make docker-push`: node images/build.ts build|push [name…]
import { Refusal, runProgram, step } from "../tools/progress.ts";
import { imageArchive } from "./archive.ts";
import { chooseBuilder } from "./builder.ts";
import { bundleImage, catalog } from "./catalog.ts";
import { type ImageDefinition, imageName } from "./definition.ts";
import { imageLog } from "./image-log.ts";
import { imageLayers } from "./layers.ts";
import { type MeasuredImage, sizeReport } from "./size-report.ts";

async function main(command: string | undefined, names: readonly string[]): Promise<void> {
  const definitions = select(names);
  switch (command) {
    case "build":
      return build(definitions);
    case "push":
      return push(definitions);
    default:
      throw new Refusal("usage: node images/build.ts build|push [name…]");
  }
}

async function build(definitions: readonly ImageDefinition[]): Promise<void> {
  const builder = await chooseBuilder();
  const images: MeasuredImage[] = [];
  for (const definition of definitions) {
    const { reference, archive } = await imageArchive(definition);
    await builder.load(archive); // the builder may have pruned an image that was built before
    images.push({ name: reference, layers: await imageLayers(archive) });
  }
  process.stdout.write(`${sizeReport(images)}\n`);
}

async function push(definitions: readonly ImageDefinition[]): Promise<void> {
  if (!process.env["IMAGE_REGISTRY"]) throw new Refusal("set IMAGE_REGISTRY to where the images go, such as registry.example.com/team");
  const builder = await chooseBuilder();
  for (const definition of definitions) {
    const { reference, archive } = await imageArchive(definition);
    const logFile = imageLog("push");
    await builder.load(archive); // pushes the tested image, even after the builder's storage was emptied
    try {
      await step(`pushing ${reference}`, () => builder.push(reference, logFile));
    } catch (error) {
      throw new Refusal(`could not push ${reference}; the log is ${logFile}`, { cause: error });
    }
  }
}

/** By name with or without tag; without names, all that run. */
function select(names: readonly string[]): readonly ImageDefinition[] {
  const images = names.length === 0 ? catalog() : [...catalog(), bundleImage()];
  const unknown = names.find((name) => !images.some((definition) => isNamed(definition, name)));
  if (unknown !== undefined) throw new Refusal(`there is no image ${unknown}; there are ${images.map(imageName).join(", ")}`);
  return names.length === 0 ? images : images.filter((definition) => names.some((name) => isNamed(definition, name)));
}

function isNamed(definition: ImageDefinition, name: string): boolean {
  return name === imageName(definition) || name === definition.name;
}

await runProgram(() => {
  const [command, ...names] = process.argv.slice(2);
  return main(command, names);
});

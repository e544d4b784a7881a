// Images as files: built when their inputs changed, and kept in the build cache under a name that says from what.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, fingerprint, forgetOldest, makeOnce, touch } from "../tools/cache.ts";
import { withLock } from "../tools/lock.ts";
import { Refusal, step } from "../tools/progress.ts";
import { baseReference, debianBase } from "./base.ts";
import { type Builder, chooseBuilder } from "./builder.ts";
import { type ImageDefinition, imageName, imageReference } from "./definition.ts";
import { imageLog } from "./image-log.ts";

export interface ImageArchive {
  readonly reference: string;
  /** A docker-archive, uncompressed, for `ctr images import`. */
  readonly archive: string;
  readonly fingerprint: string;
}

const directory = join(cacheDirectory, "images");
const archivesKept = 2;

/** The image as a file. Builds only when no archive of the same inputs is there. */
export async function imageArchive(definition: ImageDefinition): Promise<ImageArchive> {
  const builder = await chooseBuilder();
  const reference = imageReference(definition);
  const inputs = await inputsFingerprint(definition, builder);
  const archive = join(directory, `${slug(reference)}-${inputs}.tar`);

  if (!existsSync(archive)) {
    // Another checkout builds under the same name: what is saved must be what was built.
    await withLock("images", `building ${reference}`, async () => {
      if (existsSync(archive)) return;
      await buildImage(definition);
      await step(`saving ${imageName(definition)}`, () => makeOnce(archive, (unfinished) => builder.save(reference, unfinished)));
      forgetOldArchives(reference);
    });
  }
  touch(archive);
  return { reference, archive, fingerprint: inputs };
}

/** Builds the image into the builder's storage, whatever is in the cache, and resolves to its reference. */
async function buildImage(definition: ImageDefinition): Promise<string> {
  const builder = await chooseBuilder();
  const reference = imageReference(definition);
  const { dockerfile, context, target } = definition;
  if (definition.onDebian) await debianBase(builder);
  const logFile = imageLog(slug(imageName(definition)));
  try {
    await step(`building ${imageName(definition)} with ${builder.name}`, () =>
      builder.build(
        { reference, dockerfile, context, buildArguments: buildArguments(definition), ...(target === undefined ? {} : { target }) },
        logFile,
      ),
    );
  } catch (error) {
    throw new Refusal(`could not build ${imageName(definition)}; the log is ${logFile}`, { cause: error });
  } finally {
    await builder.clean();
  }
  return reference;
}

async function inputsFingerprint(definition: ImageDefinition, builder: Builder): Promise<string> {
  const files = [definition.dockerfile, ...definition.inputs];
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) throw new Refusal(`${imageName(definition)} is made from ${missing}, which is not there: run make build`);
  return fingerprint(files, [
    imageReference(definition),
    definition.target ?? "",
    definition.onDebian ? await debianBase(builder) : "scratch",
    ...Object.entries(buildArguments(definition)).flat(),
  ]);
}

function buildArguments(definition: ImageDefinition): Readonly<Record<string, string>> {
  return { ...definition.buildArguments, ...(definition.onDebian ? { BASE: baseReference } : {}) };
}

/** Fit to be a file's name. */
function slug(reference: string): string {
  return reference.replaceAll(/[^a-zA-Z0-9.]/g, "-");
}

/** The newest archives of an image stay, so that going back one change is free; so do their size reports. */
function forgetOldArchives(reference: string): void {
  const prefix = slug(reference).replaceAll(".", "\\.");
  for (const ending of ["tar", "tar\\.layers"]) forgetOldest(directory, new RegExp(`^${prefix}-[0-9a-f]{16}\\.${ending}$`), archivesKept);
}

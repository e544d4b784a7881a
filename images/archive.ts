// Images as files: built when their inputs changed, and stored in the build cache under a name with the inputs' fingerprint.
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

/** The image as a file. Builds only if there is no archive of the same inputs. */
export async function imageArchive(definition: ImageDefinition): Promise<ImageArchive> {
  const builder = await chooseBuilder();
  const reference = imageReference(definition);
  const inputs = await inputsFingerprint(definition, builder);
  const archive = join(directory, `${slug(reference)}-${inputs}.tar`);

  if (!existsSync(archive)) {
    // Another checkout may build under the same name: the saved image must be the one that was just built.
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

/** Builds the image into the builder's storage, without the archive cache, and resolves to its reference. */
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

/** A valid file name. */
function slug(reference: string): string {
  return reference.replaceAll(/[^a-zA-Z0-9.]/g, "-");
}

/** Keeps the newest archives of an image and their size reports, so that going back one change needs no build. */
function forgetOldArchives(reference: string): void {
  const prefix = slug(reference).replaceAll(".", "\\.");
  for (const ending of ["tar", "tar\\.layers"]) forgetOldest(directory, new RegExp(`^${prefix}-[0-9a-f]{16}\\.${ending}$`), archivesKept);
}

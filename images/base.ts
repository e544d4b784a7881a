// The Debian base of the images: pulled from a registry if one answers, otherwise made here from Debian's packages.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, fingerprint, makeOnce } from "../tools/cache.ts";
import { ProgramMissing, run } from "../tools/command.ts";
import { Refusal, say, step } from "../tools/progress.ts";
import type { Builder } from "./builder.ts";
import { imageLog } from "./image-log.ts";

/** Images have the packages of this day. A later date rebuilds base and packages; this is how security updates get in. */
export const packagesAsOf = "2026-11-16";

export const baseReference = "debian:trixie-slim";

const unpacked = ["man", "doc", "info", "locale", "lintian"].map((folder) => `--dpkgopt=path-exclude=/usr/share/${folder}/*`);
const bootstrapArguments = [
  "--variant=minbase",
  ...unpacked,
  "--dpkgopt=path-include=/usr/share/doc/*/copyright",
  '--aptopt=Acquire::Languages "none"',
];
const dockerfile = 'FROM scratch\nADD rootfs.tar /\nCMD ["bash"]\n';

const recipe = fingerprint([], [packagesAsOf, baseReference, dockerfile, process.arch, ...bootstrapArguments]);

let ready: Promise<string> | undefined;

/** Ensures that the builder has the base, and resolves to its id. Asks a registry at most once a run. */
export function debianBase(builder: Builder): Promise<string> {
  ready ??= ensureBase(builder);
  return ready;
}

async function ensureBase(builder: Builder): Promise<string> {
  // The id of the image that was pulled or made for this recipe: another image under the same tag does not count.
  const stamp = join(cacheDirectory, "images", `base-${recipe}.${builder.name}`);
  const present = await builder.identify(baseReference);
  if (present !== undefined && existsSync(stamp) && readFileSync(stamp, "utf8") === present) return present;

  const pulled = await step(`asking a registry for ${baseReference}`, () => builder.pull(baseReference));
  if (!pulled) {
    say("no registry gave it: making the base from Debian's packages");
    await step("making the base", () => makeBase(builder));
  }
  const made = await builder.identify(baseReference);
  if (made === undefined) throw new Error(`${builder.name} does not hold ${baseReference} after it was pulled or made`);
  mkdirSync(join(cacheDirectory, "images"), { recursive: true });
  writeFileSync(stamp, made);
  forgetOtherBases();
  return made;
}

async function makeBase(builder: Builder): Promise<void> {
  const context = join(cacheDirectory, "images", `base-${recipe}`);
  const logFile = imageLog("base");
  try {
    if (!existsSync(context)) {
      await makeOnce(context, async (unfinished) => {
        mkdirSync(unfinished);
        writeFileSync(join(unfinished, "Dockerfile"), dockerfile);
        await run("mmdebstrap", [...bootstrapArguments, "trixie", join(unfinished, "rootfs.tar")], { logFile });
      });
    }
    await builder.build({ reference: baseReference, dockerfile: join(context, "Dockerfile"), context, buildArguments: {} }, logFile);
  } catch (error) {
    if (error instanceof ProgramMissing)
      throw new Refusal(`${error.program} is missing: apt-get install buildah mmdebstrap`, { cause: error });
    throw new Refusal(`could not make the base ${baseReference}; the log is ${logFile}`, { cause: error });
  }
}

/** Keeps the cache bounded: removes the bases of earlier recipes. */
function forgetOtherBases(): void {
  const images = join(cacheDirectory, "images");
  for (const name of readdirSync(images)) {
    if (name.startsWith("base-") && !name.startsWith(`base-${recipe}`)) rmSync(join(images, name), { recursive: true, force: true });
  }
}

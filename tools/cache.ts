// The build cache: results that are slow to make, stored outside of the checkout and named by a fingerprint of their inputs.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative } from "node:path";

export const cacheDirectory = process.env["SAMPLEDB_CACHE"] ?? join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sampledb");

/** A short name for a set of inputs: the same files with the same content, and the same words, have the same name. */
export function fingerprint(files: readonly string[], words: readonly string[] = []): string {
  const hash = createHash("sha256");
  for (const word of words) hash.update(`${word.length}:${word}`);
  for (const root of files) {
    for (const file of filesBelow(root)) {
      const content = readFileSync(file);
      hash.update(`${relative(dirname(root), file)} ${statSync(file).mode & 0o111} ${content.length}\n`);
      hash.update(content);
    }
  }
  return hash.digest("hex").slice(0, 16);
}

function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

/**
 * Makes `target` in a temporary folder and moves it into place when it is complete. So everything in the cache is complete,
 * whenever a maker was stopped and however many worked at once.
 */
export async function makeOnce(target: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  const workshop = join(dirname(target), `.unfinished-${process.pid}-${randomBytes(4).toString("hex")}`);
  mkdirSync(dirname(target), { recursive: true });
  sweepWorkshops(dirname(target));
  mkdirSync(workshop);
  try {
    const unfinished = join(workshop, basename(target));
    await make(unfinished);
    try {
      renameSync(unfinished, target);
    } catch (error) {
      // Another process finished the same folder first, with the same content.
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    }
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

/** Removes leftovers of makers that were killed. */
function sweepWorkshops(directory: string): void {
  for (const name of readdirSync(directory)) {
    const maker = /^\.unfinished-(\d+)-/.exec(name)?.[1];
    if (maker !== undefined && !existsSync(`/proc/${maker}`)) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
  }
}

/** Keeps a folder of the cache bounded: of the matching entries, removes the least recently used ones. */
export function forgetOldest(directory: string, pattern: RegExp, kept: number): void {
  const oldestLast = readdirSync(directory)
    .filter((name) => pattern.test(name))
    .map((name) => join(directory, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const old of oldestLast.slice(kept)) rmSync(old, { recursive: true, force: true });
}

/** Marks an entry as used, so that `forgetOldest` removes others first. */
export function touch(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

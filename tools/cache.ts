// The build cache: what is slow to make, kept outside of the checkout and named after what it was made from.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative } from "node:path";

export const cacheDirectory = process.env["SAMPLEDB_CACHE"] ?? join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sampledb");

/** A short name for a set of inputs: the same files with the same content, and the same words, give the same name. */
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
 * Makes `target` in a folder of its own and moves it into place when it is whole, so that what is in the cache is
 * always complete, whenever the maker was stopped and however many worked at once.
 */
export async function makeOnce(target: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  const workshop = join(dirname(target), `.unfinished-${process.pid}-${basename(target)}`);
  rmSync(workshop, { recursive: true, force: true });
  mkdirSync(workshop, { recursive: true });
  try {
    const unfinished = join(workshop, basename(target));
    await make(unfinished);
    try {
      renameSync(unfinished, target);
    } catch (error) {
      // Another run finished the same folder first: theirs is as good as ours.
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    }
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

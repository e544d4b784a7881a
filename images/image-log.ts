// Log files of image builds.
import { rmSync } from "node:fs";
import { join, relative } from "node:path";

const logs = join(import.meta.dirname, "../build/logs");

/** A new log for this image, as a path to show to the person at the terminal. */
export function imageLog(name: string): string {
  const file = join(logs, `image-${name}.log`);
  rmSync(file, { force: true });
  return relative(process.cwd(), file);
}

// A program as the operator is shipped: one file, with the flags and the environment of its image.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../../tools/bundle.ts";

/** The command; NODE_FLAGS adds to the image's own. */
export async function asShipped(entry: string, outfile: string): Promise<[string, ...string[]]> {
  const dockerfile = readFileSync(join(import.meta.dirname, "../../Dockerfile"), "utf8");
  const entrypoint = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? "[]") as string[];
  const environment = (/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? "").split(" ");
  const flags = [...entrypoint.filter((argument) => argument.startsWith("--")), ...(process.env["NODE_FLAGS"] ?? "").split(" ")];
  return ["env", ...environment, process.execPath, "--expose-gc", ...flags.filter(Boolean), await bundle(entry, outfile)];
}

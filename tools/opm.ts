// opm, which renders, checks and serves catalogs of operators: built once from the pinned module and kept in the build cache.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.ts";
import { goProgram } from "./go-program.ts";

const module = "github.com/operator-framework/operator-registry";
const source = join(import.meta.dirname, "opm");

/** As pinned in go.mod; also the tag of its image. */
export const opmVersion = new RegExp(`${module} (v\\S+)`).exec(readFileSync(join(source, "go.mod"), "utf8"))?.[1] ?? "unknown";

export function opmProgram(): Promise<string> {
  // Without the tag it is linked with a C library for signatures of images.
  return goProgram({ name: "opm", title: "opm", source, module, package: `${module}/cmd/opm`, tags: ["containers_image_openpgp"] });
}

export async function opm(...args: string[]): Promise<string> {
  return await run(await opmProgram(), args);
}

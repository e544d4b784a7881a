// The validators of OLM bundles, built once from the pinned module and kept in the build cache.
import { join } from "node:path";
import { run } from "../../tools/command.ts";
import { goProgram } from "../../tools/go-program.ts";

export interface Complaint {
  readonly level: "error" | "warning";
  readonly manifest: string;
  readonly message: string;
}

export function validatorsProgram(): Promise<string> {
  const source = join(import.meta.dirname, "validators");
  return goProgram({
    name: "olm-validators",
    title: "OLM's validators",
    source,
    module: "github.com/operator-framework/api",
    package: ".",
  });
}

/** What the catalogs of operators would say of a bundle. */
export async function validateBundle(directory: string): Promise<Complaint[]> {
  const output = await run(await validatorsProgram(), [directory]);
  return output.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Complaint]));
}

// The Operator Lifecycle Manager: its two programs, built once from the pinned module and kept in the build cache, and its CRDs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../tools/command.ts";
import { goProgram } from "../../tools/go-program.ts";

const module = "github.com/operator-framework/operator-lifecycle-manager";
const source = join(import.meta.dirname, "lifecycle-manager");

/** `olm` carries out ClusterServiceVersions; `catalog` reads catalogs, and follows Subscriptions. */
export type Half = "olm" | "catalog";

export function lifecycleManager(half: Half): Promise<string> {
  const name = half === "olm" ? "olm" : "olm-catalog"; // each has a folder of its own in the cache
  return goProgram({ name, title: `the ${half} operator of OLM`, source, module, package: `${module}/cmd/${half}` });
}

/** The CRDs as a chart of that version has them, one text each. */
export async function lifecycleDefinitions(): Promise<string[]> {
  const { Dir: directory } = JSON.parse(await run("go", ["mod", "download", "-json", module], { cwd: source })) as { Dir: string };
  const crds = join(directory, "deploy/chart/crds");
  return readdirSync(crds).map((file) => readFileSync(join(crds, file), "utf8"));
}

// Makes dist/main.js: the operator and all that it imports, in one file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

export async function bundle(): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  await build({
    entryPoints: [join(root, "main.ts")],
    outfile: join(root, "dist/main.js"),
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    sourcemap: true,
    sourcesContent: false,
    define: { OPERATOR_VERSION: JSON.stringify(version) },
    // Some dependencies are CommonJS and call require, which a module does not have by itself.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "warning",
  });
}

if (import.meta.main) await bundle();

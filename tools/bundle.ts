// Makes one file of a program and all that it imports; dist/main.js is the operator's.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "..");

export async function bundle(entry = "main.ts", outfile = "dist/main.js"): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  await build({
    entryPoints: [join(root, entry)],
    outfile: join(root, outfile),
    bundle: true,
    platform: "node",
    target: "node24",
    supported: { using: true }, // esbuild's own form of it throws an error of one turn of a loop in every later one
    format: "esm",
    sourcemap: true,
    sourcesContent: false,
    define: { OPERATOR_VERSION: JSON.stringify(version) },
    plugins: [withoutDeadWeight],
    // Some dependencies are CommonJS and call require, which a module does not have by itself.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "warning",
  });
  return join(root, outfile);
}

/** What is used of undici, by us and by KubeConfig; its entry brings mocks, caches, WebSockets and a fetch that Node has as well. */
const usedOfUndici = `
  export { default as buildConnector } from "undici/lib/core/connect.js";
  export { default as Agent } from "undici/lib/dispatcher/agent.js";
  export { default as Pool } from "undici/lib/dispatcher/pool.js";
  export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";
  export const fetch = globalThis.fetch;`;

/** Loading has no effect beyond what is imported; its package does not say so, and esbuild would keep models of every kind there is. */
const withoutEffects = /node_modules\/@kubernetes\/client-node\//;

/** Takes 3 MB to 1.7 and 12 MB off the memory of a process that is at rest. */
const withoutDeadWeight: Plugin = {
  name: "without-dead-weight",
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: "undici", namespace: "used-of-undici" }));
    onLoad({ filter: /.*/, namespace: "used-of-undici" }, () => ({ contents: usedOfUndici, resolveDir: root }));
    onResolve({ filter: /^(\.|@kubernetes\/client-node)/ }, async ({ path, pluginData, ...where }) => {
      if (pluginData === "resolving" || !withoutEffects.test(`${where.importer}${path.startsWith("@") ? `node_modules/${path}/` : ""}`))
        return undefined;
      // Its files name each other in full. Asking esbuild for each of the 3,000 imports takes 20 s, and this 3.
      if (path.startsWith(".")) return { path: join(where.resolveDir, path), sideEffects: false };
      return { ...(await resolve(path, { ...where, pluginData: "resolving" })), sideEffects: false };
    });
  },
};

if (import.meta.main) await bundle();

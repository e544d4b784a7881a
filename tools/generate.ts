// make generate manifests: writes everything that follows from api/ and config/. With --check it only reports differences.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parse, stringify } from "yaml";
import { customResourceDefinition } from "../api/crd/definition.ts";
import { referencePage, type Samples } from "../api/crd/reference.ts";
import { roles } from "../api/crd/roles.ts";
import { kinds } from "../api/kinds.ts";
import { annotationsPage } from "../api/pages/annotations-page.ts";
import { reasonsPage } from "../api/pages/reasons-page.ts";
import { group } from "../api/version.ts";
import { webhookManifest } from "../operator/webhook-manifest.ts";
import { manifestFiles, sampleObjects } from "../packaging/config.ts";
import { packageFiles, packageFolders } from "../packaging/packages.ts";
import { Refusal, runProgram, say } from "./progress.ts";

const root = join(import.meta.dirname, "..");
const notice = "# Made by make manifests; changes here are lost.\n";

const crdFile = (plural: string) => `config/crd/bases/${group}_${plural}.yaml`;

/** Samples for the examples of the reference page: of SampleDB the one with all fields, of the other kinds all samples. */
function samples(): Samples {
  const files = readdirSync(join(root, "config/samples")).filter(
    (file) => !file.startsWith("sampledb_") || file === "sampledb_everything.yaml",
  );
  const objects = files
    .sort()
    .map((file) => parse(readFileSync(join(root, "config/samples", file), "utf8")) as { kind: string; spec: Record<string, unknown> });
  return Object.fromEntries(kinds.map(({ kind }) => [kind, objects.filter((object) => object.kind === kind).map(({ spec }) => spec)]));
}

function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  const yaml = (path: string, ...documents: readonly object[]) =>
    files.set(
      path,
      notice + documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })).join("---\n"),
    );
  for (const kind of kinds) {
    yaml(crdFile(kind.plural), customResourceDefinition(kind));
    yaml(`config/rbac/${kind.singular}_roles.yaml`, ...roles(kind));
  }
  const sizes = new Map(kinds.map(({ plural }) => [plural, Buffer.byteLength(files.get(crdFile(plural)) ?? "")]));
  files.set("docs/api.md", referencePage(kinds, samples(), sizes));
  files.set("docs/reasons.md", reasonsPage());
  files.set("docs/annotations.md", annotationsPage());
  yaml("config/webhook/webhooks.yaml", webhookManifest());
  yaml("config/crd/kustomization.yaml", {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: kinds.map(({ plural }) => `bases/${group}_${plural}.yaml`),
  });
  const policies = configWith(files)("policy").flatMap(({ objects }) => objects);
  files.set("operator/policies.json", `${JSON.stringify(policies, undefined, 2)}\n`);
  for (const [path, text] of packageFiles({ version, config: configWith(files), samples: sampleObjects(join(root, "config")) }))
    files.set(path, text);
  return files;
}

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

/** The files of config/ as they will be: some of them are generated above. */
function configWith(files: ReadonlyMap<string, string>) {
  const text = (path: string) => files.get(relative(root, path)) ?? (existsSync(path) ? readFileSync(path, "utf8") : undefined);
  return (folder: string) => manifestFiles(join(root, "config"), folder, text);
}

/** Files in generated folders that nothing generates any more. */
function leftOver(files: ReadonlyMap<string, string>): string[] {
  const present = packageFolders.flatMap((folder) => {
    const entries = existsSync(join(root, folder)) ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true }) : [];
    return entries.flatMap((entry) => (entry.isFile() ? [relative(root, join(entry.parentPath, entry.name))] : []));
  });
  return present.filter((path) => !files.has(path));
}

await runProgram(async () => {
  const files = generatedFiles();
  const differing = [...files].filter(
    ([path, content]) => !existsSync(join(root, path)) || readFileSync(join(root, path), "utf8") !== content,
  );
  const stale = leftOver(files);
  if (process.argv.includes("--check")) {
    const wrong = [...differing.map(([path]) => path), ...stale];
    if (wrong.length > 0) throw new Refusal(`not as generated, run make manifests: ${wrong.join(", ")}`);
    return;
  }
  for (const path of stale) rmSync(join(root, path));
  for (const [path, content] of differing) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  say(`${files.size} files generated, ${differing.length + stale.length} changed`);
});

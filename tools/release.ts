// make release: what a release has, in dist/release. The same sources and registry give the same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { manifestFiles, sampleObjects } from "../packaging/config.ts";
import { packageFiles } from "../packaging/packages.ts";
import { billOfMaterials, type Lock } from "../packaging/sbom.ts";
import { run } from "./command.ts";
import { operatorManifest } from "./deploy.ts";
import { Refusal, runProgram, say } from "./progress.ts";

const root = join(import.meta.dirname, "..");
const target = join(root, "dist/release");

/** Nothing of the machine and the hour gets into an archive. */
const reproducible = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--format=ustar"];

await runProgram(async () => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const { IMAGE_REGISTRY: registry, IMAGE_TAG: tag } = process.env;
  if (!registry) throw new Refusal("make release needs IMAGE_REGISTRY, the registry in which people find the images");
  if (tag && tag !== version)
    throw new Refusal(`IMAGE_TAG is ${tag}, and a release has one version, ${version} of package.json: leave it out`);
  const config = join(root, "config");
  const sources = { version, config: (folder: string) => manifestFiles(config, folder), samples: sampleObjects(config) };
  const files = packageFiles({ ...sources, environment: { IMAGE_REGISTRY: registry } });
  const installer = await operatorManifest();
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "install.yaml"), installer);
  writeFileSync(join(target, "sbom.cdx.json"), `${JSON.stringify(billOfMaterials({ ...lock, version }), undefined, 2)}\n`);
  await archive(files, "charts/sampledb-operator", "sampledb-operator", `sampledb-operator-${version}.tgz`);
  await archive(files, "bundle", "bundle", `sampledb-operator-bundle-${version}.tgz`);
  writeFileSync(join(target, "SHA256SUMS"), checksums());
  say(`dist/release has ${readdirSync(target).join(", ")}`);
});

/** The files of a folder, in an archive in which they have another folder. */
async function archive(files: ReadonlyMap<string, string>, folder: string, name: string, file: string): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), "sampledb-release-"));
  try {
    for (const [path, text] of files) {
      if (!path.startsWith(`${folder}/`)) continue;
      const staged = join(stage, name, path.slice(folder.length + 1));
      mkdirSync(dirname(staged), { recursive: true });
      writeFileSync(staged, text);
    }
    const unpacked = join(stage, "archive.tar");
    await run("tar", [...reproducible, `--directory=${stage}`, "--create", `--file=${unpacked}`, name]);
    await run("sh", ["-c", 'gzip --no-name --best --stdout "$1" > "$2"', "sh", unpacked, join(target, file)]);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** As `sha256sum --check` reads them. */
function checksums(): string {
  const lines = readdirSync(target)
    .sort()
    .map(
      (name) =>
        `${createHash("sha256")
          .update(readFileSync(join(target, name)))
          .digest("hex")}  ${name}\n`,
    );
  return lines.join("");
}

// make release: what a release has, in dist/release. The same sources and images give the same bytes.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { projectVersion } from "../images/catalog.ts";
import { type ImageDefinition, imageReference } from "../images/definition.ts";
import { exactReference } from "../images/names.ts";
import { billOfMaterials, type Lock } from "../packaging/sbom.ts";
import { run } from "./command.ts";
import { operatorManifest, withKubectl } from "./deploy.ts";
import { Refusal, runProgram, say } from "./progress.ts";
import { packagesFor, publishedDigests } from "./published.ts";

const root = join(import.meta.dirname, "..");
const target = join(root, "dist/release");

/** Nothing of the machine and the hour gets into an archive. */
const reproducible = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--format=ustar"];

await runProgram(async () => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  const version = projectVersion();
  const { IMAGE_REGISTRY: registry, IMAGE_TAG: tag } = process.env;
  if (!registry) throw new Refusal("make release needs IMAGE_REGISTRY, the registry in which people find the images");
  if (tag && tag !== version)
    throw new Refusal(`IMAGE_TAG is ${tag}, and a release has one version, ${version} of package.json: leave it out`);
  const digests = await publishedDigests();
  const files = packagesFor(registry, digests);
  const installer = await operatorManifest(withKubectl, (image) => exactName(image, digests));
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "install.yaml"), installer);
  copyFileSync(join(root, "config/prometheus/alerts.yaml"), join(target, "alerts.yaml"));
  writeFileSync(join(target, "images.json"), `${JSON.stringify(imageList(digests), undefined, 2)}\n`);
  writeFileSync(join(target, "sbom.cdx.json"), `${JSON.stringify(billOfMaterials({ ...lock, version }), undefined, 2)}\n`);
  await archive(files, "charts/sampledb-operator", "sampledb-operator", `sampledb-operator-${version}.tgz`);
  await archive(files, "bundle", "bundle", `sampledb-operator-bundle-${version}.tgz`);
  writeFileSync(join(target, "SHA256SUMS"), checksums());
  say(`dist/release has ${readdirSync(target).join(", ")}`);
});

function exactName(image: ImageDefinition, digests: ReadonlyMap<string, string>): string {
  return exactReference(imageReference(image), digests.get(imageReference(image)));
}

/** For those who mirror the images, or compare them with what runs. */
function imageList(digests: ReadonlyMap<string, string>): object[] {
  return [...digests].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, digest]) => ({ name, digest }));
}

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

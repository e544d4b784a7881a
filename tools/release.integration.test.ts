// make release: what it writes, twice the same bytes, and what it refuses.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { programsDirectory } from "../e2e/cluster/programs.ts";
import { run } from "./command.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "dist/release");

async function release(variables: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const env = { IMAGE_REGISTRY: "", IMAGE_TAG: "", ...variables, PATH: `${await programsDirectory()}:${process.env["PATH"]}` };
  await run("make", ["--no-print-directory", "--directory", root, "release"], { env });
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));
}

test("a release is written twice with the same bytes, and its checksums hold", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const registry = { IMAGE_REGISTRY: "registry.example.com/team" };
  const first = await release(registry);
  expect(Object.keys(first).sort()).toEqual(
    ["SHA256SUMS", "install.yaml", `sampledb-operator-${version}.tgz`, `sampledb-operator-bundle-${version}.tgz`, "sbom.cdx.json"].sort(),
  );
  expect(await release(registry)).toEqual(first);
  await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder });
  const values = await run("tar", [
    "--extract",
    "--to-stdout",
    `--file=${folder}/sampledb-operator-${version}.tgz`,
    "sampledb-operator/values.yaml",
  ]);
  expect(values).toContain("repository: registry.example.com/team/sampledb/operator");
  const { components } = JSON.parse(readFileSync(join(folder, "sbom.cdx.json"), "utf8")) as { components: { name: string }[] };
  const names = components.map(({ name }) => name);
  expect(names).toContain("undici");
  expect(names).not.toContain("vitest");
});

test.each([
  ["no registry", {}, "make release needs IMAGE_REGISTRY"],
  ["another tag than the version", { IMAGE_REGISTRY: "registry.example.com", IMAGE_TAG: "other" }, "a release has one version"],
])("%s is refused", async (_, variables, sentence) => {
  await expect(release(variables)).rejects.toThrow(sentence);
});

// make release: what it writes, twice the same bytes, and what it refuses.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { programsDirectory } from "../e2e/cluster/programs.ts";
import { Registry } from "../e2e/registry/registry.ts";
import { catalog } from "../images/catalog.ts";
import { imageName } from "../images/definition.ts";
import { run } from "./command.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "dist/release");
/** By the name with tag. */
const digests = new Map<string, string>();
let registry: Registry;

beforeAll(async () => {
  registry = await Registry.start();
  for (const image of catalog()) digests.set(imageName(image), await registry.push(`team/${image.name}`, image.tag));
}, 600_000); // the first time the registry is built
afterAll(() => registry.stop());

const here = () => ({ IMAGE_REGISTRY: `${registry.address}/team` });
const unpacked = (archive: string, file: string) => run("tar", ["--extract", "--to-stdout", `--file=${join(folder, archive)}`, file]);

async function release(variables: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const env = { IMAGE_REGISTRY: "", IMAGE_TAG: "", ...variables, PATH: `${await programsDirectory()}:${process.env["PATH"]}` };
  await run("make", ["--no-print-directory", "--directory", root, "release"], { env });
  return written();
}

function written(): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));
}

test("a release is written twice with the same bytes, and its checksums hold", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const first = await release(here());
  const archives = [`sampledb-operator-${version}.tgz`, `sampledb-operator-bundle-${version}.tgz`];
  expect(Object.keys(first).sort()).toEqual(
    ["SHA256SUMS", "alerts.yaml", "images.json", "install.yaml", "sbom.cdx.json", ...archives].sort(),
  );
  expect(await release(here())).toEqual(first);
  await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder });
  const { components } = JSON.parse(readFileSync(join(folder, "sbom.cdx.json"), "utf8")) as { components: { name: string }[] };
  const names = components.map(({ name }) => name);
  expect(names).toContain("undici");
  expect(names).not.toContain("vitest");
});

test("every image in it is named by the digest that the registry has", async () => {
  await release(here());
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const exact = (name: string) => `${registry.address}/team/${name.split(":")[0]}@${digests.get(name)}`;
  const images = [`sampledb/operator:${version}`, "sampledb/postgres:15", "sampledb/postgres:17"].map(exact);
  const list = JSON.parse(readFileSync(join(folder, "images.json"), "utf8")) as { name: string; digest: string }[];
  expect(new Map(list.map(({ name, digest }) => [name.replace(`${registry.address}/team/`, ""), digest]))).toEqual(digests);

  const values = await unpacked(`sampledb-operator-${version}.tgz`, "sampledb-operator/values.yaml");
  expect(values).toContain(`repository: ${registry.address}/team/sampledb/operator\n`);
  expect(values).toContain(`digest: ${digests.get(`sampledb/operator:${version}`)}\n`);
  const csv = "bundle/manifests/sampledb-operator.clusterserviceversion.yaml";
  const texts = [readFileSync(join(folder, "install.yaml"), "utf8"), await unpacked(`sampledb-operator-bundle-${version}.tgz`, csv)];
  for (const text of texts) expect(new Set(text.match(imagesOfTheTeam(registry)))).toEqual(new Set(images));
  expect(values.match(imagesOfTheTeam(registry))?.filter((name) => name.includes("postgres"))).toEqual(images.slice(1));
});

test("the alerts in it are a PrometheusRule", async () => {
  await release(here());
  const rules = parseAllDocuments(readFileSync(join(folder, "alerts.yaml"), "utf8")).map((document) => document.toJS());
  expect(rules).toMatchObject([{ kind: "PrometheusRule" }]);
});

/** Whole names, with tag or digest. */
function imagesOfTheTeam({ address }: Registry): RegExp {
  return new RegExp(`${address.replaceAll(".", "\\.")}/team/sampledb/[^\\s"',]+`, "g");
}

test.each([
  ["no registry", () => ({}), "make release needs IMAGE_REGISTRY"],
  ["another tag than the version", () => ({ ...here(), IMAGE_TAG: "other" }), "a release has one version"],
  [
    "a registry without our images",
    () => ({ IMAGE_REGISTRY: `${registry.address}/others` }),
    "run make docker-push with the same IMAGE_REGISTRY",
  ],
  ["a registry that does not answer", () => ({ IMAGE_REGISTRY: "127.0.0.1:1/team" }), "registry 127.0.0.1:1 does not answer"],
])("%s is refused, and the last release stays", async (_, variables, sentence) => {
  const before = await release(here());
  await expect(release(variables())).rejects.toThrow(sentence);
  expect(written()).toEqual(before);
});

// make bundle-push and make catalog, with a registry on loopback: the image of the bundle, and the catalog that names it.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { catalog, projectVersion } from "../../images/catalog.ts";
import { imageName } from "../../images/definition.ts";
import { imageDigest } from "../../images/registry.ts";
import { run } from "../../tools/command.ts";
import { opm, opmProgram } from "../../tools/opm.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { Registry } from "../registry/registry.ts";

const version = projectVersion();
const written = join(projectDirectory, "dist/catalog/sampledb-operator/catalog.yaml");
const csvFile = join(projectDirectory, "dist/bundle/manifests/sampledb-operator.clusterserviceversion.yaml");
/** Images for a registry that is gone after the test are nothing for the build cache. */
const cache = mkdtempSync(join(tmpdir(), "sampledb-bundles-"));
const digests = new Map<string, string>();
let registry: Registry;

beforeAll(async () => {
  await opmProgram();
  registry = await Registry.start();
  for (const image of catalog()) digests.set(imageName(image), await registry.push(`team/${image.name}`, image.tag));
}, 900_000); // the first time both are built
afterAll(async () => {
  await registry.stop();
  rmSync(cache, { recursive: true, force: true });
});

async function make(target: "bundle-build" | "bundle-push" | "catalog", folder: string): Promise<void> {
  const own = target === "catalog" ? {} : { SAMPLEDB_CACHE: cache };
  const env = { IMAGE_REGISTRY: folder && `${registry.address}/${folder}`, IMAGE_TAG: "", ...own };
  await run("make", ["--no-print-directory", "--directory", projectDirectory, target], { env });
}

interface Blob {
  readonly schema: string;
  readonly name: string;
  readonly image?: string;
}

const blobsOf = (yaml: string) => parseAllDocuments(yaml).map((document) => document.toJS() as Blob);
const inCatalog = () => blobsOf(readFileSync(written, "utf8"));

test("a catalog names no bundle that is not in the registry", async () => {
  await expect(make("catalog", "team")).rejects.toThrow("run make bundle-push with the same IMAGE_REGISTRY first");
});

test("a bundle names no image that is not in the registry", async () => {
  await expect(make("bundle-build", "others")).rejects.toThrow("run make docker-push with the same IMAGE_REGISTRY first");
});

test("the bundle's image has what the catalog says, and names the operator and databases by digest", async () => {
  await make("bundle-push", "team");
  const csv = readFileSync(csvFile, "utf8");
  const named = new Set(csv.match(new RegExp(`${registry.address.replaceAll(".", "\\.")}/team/[^\\s"',]+`, "g")));
  const exact = [`sampledb/operator:${version}`, "sampledb/postgres:15", "sampledb/postgres:17"].map((name) => {
    return `${registry.address}/team/${name.split(":")[0]}@${digests.get(name)}`;
  });
  expect(named).toEqual(new Set(exact));

  await make("catalog", "team");
  const tagged = `${registry.address}/team/sampledb/bundle:${version}`;
  const image = tagged.replace(`:${version}`, `@${await imageDigest(tagged)}`);
  const bundle = inCatalog().find(({ schema }) => schema === "olm.bundle");
  expect(bundle).toMatchObject({ name: `sampledb-operator.v${version}`, image });
  // opm takes the image from the registry and unpacks it, as OLM does.
  const options = ["--output=yaml", "--migrate-level=bundle-object-to-csv-metadata", "--use-http"];
  expect(blobsOf(await opm("render", image, ...options))).toEqual([bundle]);
});

test("without a registry the catalog is of this machine, the same twice, and has what makes an image of it", async () => {
  await make("catalog", "");
  const first = readFileSync(written, "utf8");
  expect(inCatalog().map(({ schema }) => schema)).toEqual(["olm.package", "olm.channel", "olm.bundle"]);
  expect(inCatalog().at(-1)?.image).toBe(`localhost/sampledb/bundle:${version}`);
  await make("catalog", "");
  expect(readFileSync(written, "utf8")).toBe(first);
  expect(existsSync(join(projectDirectory, "dist/catalog.Dockerfile"))).toBe(true);
});

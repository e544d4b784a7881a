// The names of the group sampledb.io are written once, under api/, and whatever can't import them knows no other name.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noteAnnotations, orderAnnotations } from "../api/annotations.ts";
import { finalizer, labels, reportingController } from "../api/labels.ts";
import { apiVersion } from "../api/version.ts";
import { run } from "./command.ts";

const root = join(import.meta.dirname, "..");

async function filesOf(...places: readonly string[]): Promise<string[]> {
  const listed = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...places], { cwd: root });
  return listed.split("\n").filter(Boolean);
}

/** A label that the local Kubernetes gives to images in its nodes; nothing that ships knows it. */
const ofTests = ["sampledb.io/inputs"];

const described = [...Object.values(orderAnnotations), ...Object.values(noteAnnotations), ...Object.values(labels)];
const known = new Set<string>([...described.map(({ name }) => name), finalizer, reportingController, apiVersion, ...ofTests]);

/** Names of the group in a text; those of its subdomains and resources, as in `backups.sampledb.io/x`, are others. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w.])sampledb\.io\/[a-z0-9-]*[a-z0-9]/g)].map(([name]) => name);
}

function withoutComments(source: string): string {
  return source.replace(/\/\*.*?\*\//gs, "").replace(/(^|\s)\/\/ .*$/gm, "");
}

test("every name of the group is described once", () => {
  const names = described.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

test("no TypeScript of the product writes a name of the group out", async () => {
  const sources = await filesOf("api/**.ts", "controllers/**.ts", "operator/**.ts", "runtime/**.ts", "kubernetes/**.ts", "main.ts");
  const product = sources.filter((file) => !/\.(test|fixture)\.ts$|^runtime\/fixtures\/|^api\/(annotations|labels)\.ts$/.test(file));
  expect(product.length).toBeGreaterThan(100);
  const literal = product.flatMap((file) => namesIn(withoutComments(readFileSync(join(root, file), "utf8"))).map((name) => [file, name]));
  expect(literal).toEqual([]);
});

test("programs of the image, manifests, tests and docs use no name that is not described", async () => {
  const files = await filesOf("images", "config", "e2e", "docs", "Makefile", "README.md");
  const texts = files.map((file) => ({ file, names: namesIn(readFileSync(join(root, file), "utf8")) }));
  expect(texts.filter(({ names }) => names.length > 0).length).toBeGreaterThan(20);
  expect(texts.flatMap(({ file, names }) => names.filter((name) => !known.has(name)).map((name) => [file, name]))).toEqual([]);
});

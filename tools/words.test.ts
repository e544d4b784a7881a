// Public words are written once, under api/: names of the group sampledb.io, and reasons. Whatever can't import them knows no other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noteAnnotations, orderAnnotations } from "../api/annotations.ts";
import { backupFinalizer, finalizer, labels, reportingController, restoreFinalizer } from "../api/labels.ts";
import { passedOnReasons } from "../api/reasons/passed-on.ts";
import { reasons } from "../api/reasons.ts";
import { apiVersion } from "../api/version.ts";
import { run } from "./command.ts";

const root = join(import.meta.dirname, "..");

/** What is no test and helps none. */
function isProduct(file: string): boolean {
  return !/\.(test|fixture)\.ts$|^runtime\/fixtures\//.test(file);
}

async function filesOf(...places: readonly string[]): Promise<string[]> {
  const listed = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...places], { cwd: root });
  return listed.split("\n").filter(Boolean);
}

/** A label that the local Kubernetes gives to images in its nodes; nothing that ships knows it. */
const ofTests = ["sampledb.io/inputs"];

const described = [...Object.values(orderAnnotations), ...Object.values(noteAnnotations), ...Object.values(labels)];
const finalizers = [finalizer, backupFinalizer, restoreFinalizer];
const known = new Set<string>([...described.map(({ name }) => name), ...finalizers, reportingController, apiVersion, ...ofTests]);

/** Names of the group in a text; those of its subdomains and resources, as in `backups.sampledb.io/x`, are others. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w.])sampledb\.io\/[a-z0-9-]*[a-z0-9]/g)].map(([name]) => name);
}

async function controllerSources(): Promise<{ file: string; source: string }[]> {
  const files = (await filesOf("controllers/**.ts")).filter(isProduct);
  return files.map((file) => ({ file, source: withoutComments(readFileSync(join(root, file), "utf8")) }));
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
  const product = sources.filter((file) => isProduct(file) && !["api/annotations.ts", "api/labels.ts"].includes(file));
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

test("every reason has a name of its own, in CamelCase", () => {
  const names = Object.values(reasons);
  expect(names).toEqual([...new Set(names)]);
  expect(names.filter((name) => !/^([A-Z][a-z]+)+$/.test(name))).toEqual([]);
});

test("every reason that is described is given by a controller, unless Kubernetes gives it", async () => {
  const given = new Set(
    (await controllerSources()).flatMap(({ source }) => [...source.matchAll(/\breasons\.(\w+)/g)].map(([, key]) => key)),
  );
  const unused = Object.keys(reasons).filter((key) => !given.has(key) && !(key in passedOnReasons));
  expect(unused).toEqual([]);
});

test("no controller writes a reason out", async () => {
  const literal = (await controllerSources()).flatMap(({ file, source }) =>
    [...source.matchAll(/\breason: "(\w+)"/g)].map(([, reason]) => [file, reason]),
  );
  expect(literal).toEqual([]);
});

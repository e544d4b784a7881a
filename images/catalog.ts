// The images of this project.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packagesAsOf } from "./base.ts";
import type { ImageDefinition } from "./definition.ts";
import { bundleImageName, operatorImageName, postgresImageName } from "./names.ts";

const root = join(import.meta.dirname, "..");

/** The node binary's package; npm installs the one for this machine. */
const nodePackage = `node_modules/node-linux-${process.arch}`;

/** Where `make bundle-build` puts the files of the OLM bundle together. */
export const bundleDirectory = join(root, "dist/bundle");

/** The one that operator, chart and bundle have. */
export function projectVersion(): string {
  return (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
}

export function operatorImage(): ImageDefinition {
  const sourceMap = join(root, "dist/main.js.map");
  return {
    name: operatorImageName,
    tag: process.env["IMAGE_TAG"] || projectVersion(),
    dockerfile: join(root, "Dockerfile"),
    context: root,
    onDebian: true,
    inputs: [
      join(root, ".dockerignore"),
      join(root, nodePackage, "package.json"), // its version stands for the 120 MB binary beside it
      join(root, "dist/main.js"),
      ...(existsSync(sourceMap) ? [sourceMap] : []),
    ],
    buildArguments: { NODE: `${nodePackage}/bin/node` },
  };
}

/** The database image of a major, or of both majors for upgrades. */
export function postgresImage(tag: "15" | "17" | "15-17"): ImageDefinition {
  const context = join(root, "images/postgres");
  return {
    name: postgresImageName,
    tag,
    dockerfile: join(context, "Dockerfile"),
    context,
    target: `postgres-${tag}`,
    onDebian: true,
    inputs: filesBelow(context).filter((file) => !/\.ts$|\.pyc$|smoke-test\.sh$/.test(file)),
    buildArguments: { PACKAGES_AS_OF: packagesAsOf },
  };
}

/** All files: a list of names could miss a new one, and an outdated image would be used. */
function filesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort();
}

/** In build order: an image comes after those whose layers it shares. */
export function catalog(): readonly ImageDefinition[] {
  return [operatorImage(), ...databaseImages(), postgresImage("15-17")];
}

/** The image of each major: all that nodes need while the operator runs outside of the cluster. */
export function databaseImages(): readonly ImageDefinition[] {
  return [postgresImage("17"), postgresImage("15")];
}

/** The OLM bundle, which no node runs: it is made after the others, because it names them. */
export function bundleImage(): ImageDefinition {
  return {
    name: bundleImageName,
    tag: projectVersion(),
    dockerfile: join(bundleDirectory, "bundle.Dockerfile"),
    context: bundleDirectory,
    onDebian: false,
    inputs: [bundleDirectory],
  };
}

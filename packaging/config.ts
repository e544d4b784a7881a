// The objects of config/, in the order in which kustomize reads them.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { parse, parseAllDocuments } from "yaml";

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** A file of config/, such as `rbac/operator_role.yaml`. */
export interface ManifestFile {
  readonly path: string;
  readonly objects: readonly Manifest[];
}

/** Reads the text of a file, and nothing when there is none: generated files may be new. */
export type ReadText = (path: string) => string | undefined;

/** Follows the kustomization of a folder. `read` may answer for files that are generated and not written yet. */
export function manifestFiles(config: string, folder: string, read: ReadText = fromDisk): ManifestFile[] {
  const path = join(config, folder);
  const { apiVersion, kind, resources, ...more } = parse(text(read, join(path, "kustomization.yaml"))) as {
    apiVersion: string;
    kind: string;
    resources: readonly string[];
  };
  const unknown = Object.keys(more);
  if (unknown.length > 0) throw new Error(`${folder}/kustomization.yaml has ${unknown.join(", ")}: packaging knows resources alone`);
  return resources.flatMap((resource) => {
    const file = join(path, resource);
    if (!resource.endsWith(".yaml")) return manifestFiles(config, relative(config, file), read);
    return [{ path: relative(config, file), objects: documents(text(read, file)) }];
  });
}

/** All of config/samples, the minimal one first, which a console offers then. */
export function sampleObjects(config: string): object[] {
  const folder = join(config, "samples");
  const minimal = "sampledb_minimal.yaml";
  const names = readdirSync(folder).filter((name) => name.endsWith(".yaml") && name !== minimal);
  return [minimal, ...names.sort()].flatMap((name) => documents(text(fromDisk, join(folder, name))));
}

export const identityOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;

/** The one object of that kind and name. */
export function manifest(files: readonly ManifestFile[], identity: string): Manifest {
  const found = files.flatMap(({ objects }) => objects).filter((object) => identityOf(object) === identity);
  const [object] = found;
  if (!object || found.length > 1) throw new Error(`config/ has ${found.length} objects ${identity}, and packaging needs one`);
  return object;
}

function documents(yaml: string): Manifest[] {
  return parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
}

function text(read: ReadText, path: string): string {
  const found = read(path);
  if (found === undefined) throw new Error(`${path} is missing`);
  return found;
}

function fromDisk(path: string): string | undefined {
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path, "utf8") : undefined;
}

// Versions of the operator for a catalog: a bundle under another version, with images that the nodes have.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { type ImageDefinition, imageReference } from "../../images/definition.ts";
import { csvName } from "../../packaging/bundle/catalog.ts";

const csvFile = "manifests/sampledb-operator.clusterserviceversion.yaml";

export interface Version {
  readonly version: string;
  /** The bundle's folder in a clone. */
  readonly bundle: string;
  readonly operatorImage: ImageDefinition;
  /** That of databases of PostgreSQL 17. */
  readonly postgresImage: ImageDefinition;
}

interface ClusterServiceVersion {
  readonly metadata: { name: string; readonly annotations: { readonly containerImage: string } };
  readonly spec: { version: string; readonly relatedImages: readonly { readonly name: string; readonly image: string }[] };
}

/** Writes the bundle below the directory, and resolves to its folder. */
export function writeBundle(directory: string, { version, bundle, operatorImage, postgresImage }: Version): string {
  const target = join(directory, csvName(version));
  rmSync(target, { recursive: true, force: true });
  cpSync(bundle, target, { recursive: true });
  const text = readFileSync(join(target, csvFile), "utf8");
  const { metadata, spec } = parse(text) as ClusterServiceVersion;
  const postgres = spec.relatedImages.find(({ name }) => name === "postgres-17")?.image;
  if (!postgres) throw new Error(`the bundle in ${bundle} names no image of PostgreSQL 17`);
  const csv = parse(
    text
      .replaceAll(metadata.annotations.containerImage, imageReference(operatorImage))
      .replaceAll(new RegExp(`${postgres}$`, "gm"), imageReference(postgresImage)),
  ) as ClusterServiceVersion;
  csv.metadata.name = csvName(version);
  csv.spec.version = version;
  writeFileSync(join(target, csvFile), stringify(csv, { lineWidth: 0 }));
  return target;
}

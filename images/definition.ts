// What an image is made of and what it is called.

export interface ImageDefinition {
  /** Without registry and tag, such as `sampledb/postgres`. */
  readonly name: string;
  readonly tag: string;
  /** In place of IMAGE_REGISTRY, for images that never leave this machine. */
  readonly registry?: string;
  readonly dockerfile: string;
  readonly context: string;
  /** The stage of the Dockerfile that is the image; the last one when absent. */
  readonly target?: string;
  /** Whether it stands on the Debian base, which the Dockerfile takes as `ARG BASE`; false for FROM scratch. */
  readonly onDebian: boolean;
  /** The files and folders that, with the Dockerfile, decide what is in the image. Unchanged ones mean: nothing to build. */
  readonly inputs: readonly string[];
  readonly buildArguments?: Readonly<Record<string, string>>;
}

/** The name that people know the image by, such as `sampledb/postgres:17`. */
export function imageName(definition: ImageDefinition): string {
  return `${definition.name}:${definition.tag}`;
}

/** The name that Pods use, such as `registry.example.com/sampledb/postgres:17`. */
export function imageReference(definition: ImageDefinition): string {
  return `${definition.registry ?? (process.env["IMAGE_REGISTRY"] || "localhost")}/${imageName(definition)}`;
}

// The inputs and the name of an image.
import { imageRegistry } from "./names.ts";

export interface ImageDefinition {
  /** Without registry and tag, such as `sampledb/postgres`. */
  readonly name: string;
  readonly tag: string;
  /** Replaces IMAGE_REGISTRY, for images that never leave this machine. */
  readonly registry?: string;
  readonly dockerfile: string;
  readonly context: string;
  /** The stage of the Dockerfile to build; by default the last one. */
  readonly target?: string;
  /** Whether it is based on Debian, which the Dockerfile takes as `ARG BASE`; false for FROM scratch. */
  readonly onDebian: boolean;
  /** Files and folders that, with the Dockerfile, determine the image. If they are unchanged, nothing is built. */
  readonly inputs: readonly string[];
  readonly buildArguments?: Readonly<Record<string, string>>;
}

/** The short name of the image, such as `sampledb/postgres:17`. */
export function imageName(definition: ImageDefinition): string {
  return `${definition.name}:${definition.tag}`;
}

/** The name that Pods use, such as `registry.example.com/sampledb/postgres:17`. */
export function imageReference(definition: ImageDefinition): string {
  return `${definition.registry ?? imageRegistry(process.env)}/${imageName(definition)}`;
}

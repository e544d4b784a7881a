// The table of sizes at the end of a build.
import type { Layer } from "./layers.ts";

export interface MeasuredImage {
  readonly name: string;
  readonly layers: readonly Layer[];
}

/** One line for each image: its size, the size to pull, and the size over another image whose layers it contains. */
export function sizeReport(images: readonly MeasuredImage[]): string {
  const width = Math.max(...images.map(({ name }) => name.length));
  return images.map((image) => `${image.name.padEnd(width)}  ${size(image.layers)}${overAnother(image, images)}`).join("\n");
}

function overAnother(image: MeasuredImage, images: readonly MeasuredImage[]): string {
  const lower = images.find(
    (other) => other.layers.length < image.layers.length && other.layers.every(({ digest }, i) => digest === image.layers[i]?.digest),
  );
  if (lower === undefined) return "";
  const added = image.layers.slice(lower.layers.length);
  return `; over ${lower.name}: ${size(added)} in ${added.length === 1 ? "one layer" : `${added.length} layers`}`;
}

function size(layers: readonly Layer[]): string {
  const megabytes = (of: (layer: Layer) => number) => (layers.reduce((sum, layer) => sum + of(layer), 0) / 1e6).toFixed(1);
  return `${megabytes((layer) => layer.bytes)} MB, ${megabytes((layer) => layer.bytesToPull)} MB to pull`;
}

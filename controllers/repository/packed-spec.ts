// The spec of a SampleDB as it lies in a repository: an annotation of the backup. What comes out of a repository is input: whoever can write
// there can write anything.
import { gunzipSync, gzipSync } from "node:zlib";
import type { SampleDB } from "../kinds/sampledb-io.ts";

/** Linux takes no argument of more than 128 KiB, and pgBackRest takes an annotation as an argument. */
const mostCharacters = 100_000;
/** More than the schema lets a spec have in practice. A few bytes can unpack to gigabytes. */
const mostBytes = 512 * 1024;

/** In base64, so that people can read it as well: `base64 --decode | gunzip`. Undefined where it is too large to be stored. */
export function packSpec(spec: SampleDB["spec"]): string | undefined {
  const packed = gzipSync(JSON.stringify(spec), { level: 9 }).toString("base64");
  return packed.length > mostCharacters ? undefined : packed;
}

/** Undefined where the text is no packed JSON object. Nothing else is known of its content. */
export function unpackSpec(packed: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength: mostBytes }).toString());
    return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

// Parses the warnings in an answer.
import type { IncomingHttpHeaders } from "node:http";

/** The format is `299 - "text"`, several in one header or in many. An API server uses no other code. */
export function warnings({ warning }: IncomingHttpHeaders): string[] {
  if (warning === undefined) return [];
  const text = Array.isArray(warning) ? warning.join(", ") : warning;
  return [...text.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = ""]) => quoted.replace(/\\(.)/g, "$1"));
}

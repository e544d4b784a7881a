// Remembers the form in which the API server stores a desired state when it differs from the desired one: a webhook changes it,
// the server drops a zero, a schema prunes. Such objects never equal their desired state and would be written for ever.
import { hash } from "node:crypto";
import { BoundedMap } from "../bounded-map.ts";
import type { KubeObject } from "../kube/object.ts";

interface Settlement {
  readonly desired: string;
  readonly live: string;
}

const mostRemembered = 20_000;

/**
 * Remembers content, not versions or identities. The answer to a write and the watch may show one version as two different
 * objects, and a new version may differ only in its status.
 */
export class Settled {
  readonly #settlements = new BoundedMap<Settlement>(mostRemembered);

  /** Whether `live` is the form in which the API server stored that desired state when it was written last. */
  is(part: "object" | "status", live: KubeObject, desired: string): boolean {
    const settlement = this.#settlements.get(placeOf(part, live));
    return settlement?.desired === desired && settlement.live === digest(contentOf(part, live));
  }

  remember(part: "object" | "status", live: KubeObject, desired: string): void {
    this.#settlements.set(placeOf(part, live), { desired, live: digest(contentOf(part, live)) });
  }
}

/**
 * A hash of the content, independent of the order of fields. Sorting costs ten times as much as the rest, and a converged object
 * has the same text each time, so the digest of a text is remembered.
 */
export function digest(value: unknown): string {
  const seen = shortHash(JSON.stringify(value) ?? "");
  const known = digests.get(seen);
  if (known !== undefined) return known;
  const made = shortHash(JSON.stringify(value, sortedKeys) ?? "");
  digests.set(seen, made);
  return made;
}

const digests = new BoundedMap<string>(50_000);

function shortHash(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

function placeOf(part: string, { metadata }: KubeObject): string {
  return `${metadata.uid} ${part}`;
}

/** The object without the fields that change although no writer changed the object. */
function contentOf(part: "object" | "status", live: KubeObject & { readonly status?: unknown }): unknown {
  if (part === "status") return live.status;
  const metadata = { ...live.metadata, resourceVersion: undefined, generation: undefined, managedFields: undefined };
  return { ...live, metadata, status: undefined };
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

// What the API server made of desired states that it keeps in another form: a webhook changes them, it drops a zero, a schema
// prunes. Such objects never look as they are wanted to, and without this they would be written for ever.
import { hash } from "node:crypto";
import { BoundedMap } from "../bounded-map.ts";
import type { KubeObject } from "../kube/object.ts";

interface Settlement {
  readonly desired: string;
  readonly live: string;
}

const mostRemembered = 20_000;

/**
 * Remembers by content, not by version or by identity: the same version is one object when a write was answered and another
 * when the watch has brought it, and a new version may have brought nothing but a status.
 */
export class Settled {
  readonly #settlements = new BoundedMap<Settlement>(mostRemembered);

  /** Whether this is what became of that desired state when it was written last. */
  is(part: "object" | "status", live: KubeObject, desired: string): boolean {
    const settlement = this.#settlements.get(placeOf(part, live));
    return settlement?.desired === desired && settlement.live === digest(contentOf(part, live));
  }

  remember(part: "object" | "status", live: KubeObject, desired: string): void {
    this.#settlements.set(placeOf(part, live), { desired, live: digest(contentOf(part, live)) });
  }
}

/**
 * The same for the same content, whatever order a builder makes it in. Putting it in order costs ten times as much as all the rest,
 * and a converged object is the same text each time: what was put in order once is remembered.
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

/** Without what changes although nobody changed anything. */
function contentOf(part: "object" | "status", live: KubeObject & { readonly status?: unknown }): unknown {
  if (part === "status") return live.status;
  const metadata = { ...live.metadata, resourceVersion: undefined, generation: undefined, managedFields: undefined };
  return { ...live, metadata, status: undefined };
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

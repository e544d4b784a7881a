// What the answers of an API server say.
import { type ApiError, apiError, type Call, type Status, Unreachable } from "./errors.ts";
import type { HttpResponse } from "./exchange.ts";
import type { KubeObject } from "./object.ts";

/** What could not be read is not quoted: it may be a Secret. */
export function parsed<T>({ method, path }: Call, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Unreachable(`${method} ${path}: what came is no JSON`);
  }
}

export function failure(call: Call, { status, headers, text }: HttpResponse): ApiError {
  const retryAfter = headers["retry-after"];
  return apiError(call, status, toldStatus(status, text), typeof retryAfter === "string" ? retryAfter : undefined);
}

function toldStatus(code: number, text: string): Status {
  try {
    const told: unknown = JSON.parse(text);
    if (typeof told === "object" && told !== null) return told;
  } catch {
    // A proxy or a server that is starting answers in plain text.
  }
  return { message: text.slice(0, 200).trim() || `answered ${code}` };
}

/**
 * Whether a write took the object away for good. The answer alone does not say: for some kinds (Pods, Services, claims) the
 * deleted object is returned, and an object whose last finalizer was taken off is returned as well.
 */
export function isGone(method: string, answer: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = answer.metadata;
  if (method !== "DELETE" && deletionTimestamp === undefined) return false;
  return finalizers.length === 0 && deletionGracePeriodSeconds === 0 && !isNamespaceWithContent(answer);
}

/** A Namespace's own finalizer is in its spec. */
function isNamespaceWithContent(answer: KubeObject & { readonly spec?: { readonly finalizers?: readonly string[] } }): boolean {
  return answer.kind === "Namespace" && (answer.spec?.finalizers ?? []).length > 0;
}

// Interprets the answers of an API server.
import { type ApiError, apiError, type Call, type Status, Unreachable } from "./errors.ts";
import type { HttpResponse } from "./exchange.ts";
import type { KubeObject } from "./object.ts";

/** The text is not quoted in the error: it may be a Secret. */
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
    // A proxy, or an API server that is starting, answers in plain text.
  }
  return { message: text.slice(0, 200).trim() || `answered ${code}` };
}

/**
 * Whether a write removed the object. The kind of answer does not show it: for Pods, Services and claims the API server returns
 * the deleted object, and it also returns an object whose last finalizer was removed.
 */
export function isGone(method: string, answer: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = answer.metadata;
  if (method !== "DELETE" && deletionTimestamp === undefined) return false;
  return finalizers.length === 0 && deletionGracePeriodSeconds === 0 && !isNamespaceWithContent(answer);
}

/** A Namespace has its own finalizer in its spec. */
function isNamespaceWithContent(answer: KubeObject & { readonly spec?: { readonly finalizers?: readonly string[] } }): boolean {
  return answer.kind === "Namespace" && (answer.spec?.finalizers ?? []).length > 0;
}

// The requests of the API server to a webhook and the answers: AdmissionReview of admission.k8s.io/v1.
import type { JsonPatch } from "../kube/client.ts";
import type { Cause } from "../kube/errors.ts";
import type { KubeObject } from "../kube/object.ts";

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface Question {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  /** Empty for a cluster-scoped kind. */
  readonly namespace: string;
  /** Empty when the API server generates it. */
  readonly name: string;
  readonly userInfo: UserInfo;
  /** Nothing will be stored. */
  readonly dryRun: boolean;
}

/** The change that the API server asks about. It has validated the objects by their schema; `T` is not checked here. */
export type AdmissionRequest<T extends KubeObject = KubeObject> = Question &
  (
    | { readonly operation: "CREATE"; readonly object: T; readonly oldObject: undefined }
    | { readonly operation: "UPDATE"; readonly object: T; readonly oldObject: T }
    | { readonly operation: "DELETE"; readonly object: undefined; readonly oldObject: T }
  );

export interface Allowed {
  readonly kind: "allowed";
  readonly warnings: readonly string[];
}

export interface Denied extends Denial {
  readonly kind: "denied";
}

export interface Denial {
  /** For people: the problem and what to do. The API server prefixes the webhook's name. */
  readonly message: string;
  /** Default: `Invalid` with causes, otherwise `Forbidden`. */
  readonly reason?: string;
  /** Default: 422 with causes, otherwise 403. */
  readonly code?: number;
  /** The invalid fields. kubectl shows them in place of the message. */
  readonly causes?: readonly Cause[];
  readonly warnings?: readonly string[];
}

export interface Patched {
  readonly kind: "patched";
  readonly operations: JsonPatch;
  readonly warnings: readonly string[];
}

export type Validation = Allowed | Denied;
export type Mutation = Validation | Patched;

/** The signal is aborted when an answer would be too late. */
export type ValidateHandler<T extends KubeObject> = (request: AdmissionRequest<T>, signal: AbortSignal) => Validation | Promise<Validation>;
export type MutateHandler<T extends KubeObject> = (request: AdmissionRequest<T>, signal: AbortSignal) => Mutation | Promise<Mutation>;

/** kubectl shows warnings to the user; the API server cuts each at 256 characters. */
export function allowed(warnings: readonly string[] = []): Allowed {
  return { kind: "allowed", warnings };
}

export function denied(denial: Denial): Denied {
  return { kind: "denied", ...denial };
}

export function patched(operations: JsonPatch, warnings: readonly string[] = []): Patched {
  return { kind: "patched", operations, warnings };
}

/** The body is no AdmissionReview that we can answer. The message is for people. */
export class NotAReview extends Error {
  override readonly name = "NotAReview";
}

/** Throws NotAReview. */
export function parseReview(text: string): AdmissionRequest {
  let review: { apiVersion?: string; kind?: string; request?: Partial<AdmissionRequest> } | null;
  try {
    review = JSON.parse(text) as typeof review;
  } catch (error) {
    throw new NotAReview("the body is not JSON", { cause: error });
  }
  if (review?.apiVersion !== "admission.k8s.io/v1" || review.kind !== "AdmissionReview") {
    throw new NotAReview("the body is not an AdmissionReview of admission.k8s.io/v1");
  }
  const { request } = review;
  if (!request?.uid || !request.kind || !request.resource || !request.userInfo)
    throw new NotAReview("the AdmissionReview has no whole request");
  const { operation } = request;
  const object = request.object ?? undefined; // null if the operation has none
  const oldObject = request.oldObject ?? undefined;
  const whole =
    (operation === "CREATE" && object) || (operation === "UPDATE" && object && oldObject) || (operation === "DELETE" && oldObject);
  if (!whole) throw new NotAReview(`operation ${operation} is not one that we know, or lacks its object`);
  const { namespace = "", name = "", dryRun = false } = request;
  return { ...request, namespace, name, dryRun, object, oldObject } as AdmissionRequest;
}

/** The AdmissionReview with the answer. */
export function reviewResponse(request: AdmissionRequest, verdict: Mutation): object {
  const { uid } = request;
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, ...response(request, verdict) } };
}

function response(request: AdmissionRequest, verdict: Mutation): object {
  switch (verdict.kind) {
    case "allowed":
      return { allowed: true, warnings: verdict.warnings };
    case "patched": {
      if (verdict.operations.length === 0) return { allowed: true, warnings: verdict.warnings };
      const patch = Buffer.from(JSON.stringify(verdict.operations)).toString("base64");
      return { allowed: true, patchType: "JSONPatch", patch, warnings: verdict.warnings };
    }
    case "denied": {
      const { message, causes = [], warnings = [] } = verdict;
      const invalid = causes.length > 0;
      const { reason = invalid ? "Invalid" : "Forbidden", code = invalid ? 422 : 403 } = verdict;
      // kubectl needs kind and name to say which object is invalid.
      const details = { group: request.kind.group, kind: request.kind.kind, name: request.name, causes };
      return { allowed: false, warnings, status: { status: "Failure", message, reason, code, ...(invalid ? { details } : {}) } };
    }
  }
}

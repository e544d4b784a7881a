// Requests that no webhook may hold up. The API server does not even ask about them where the configuration has match conditions; OLM's
// has none, so the handlers let them through themselves.
import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../runtime/kube/object.ts";
import type { AdmissionRequest } from "../runtime/webhooks/admission.ts";

/** The operator's own writes, and changes of metadata alone: a finalizer must be able to go, and to come. */
export function isExempt(request: AdmissionRequest, operatorUsername: string): boolean {
  return request.userInfo.username === operatorUsername || changesMetadataAlone(request);
}

function changesMetadataAlone({ operation, object, oldObject }: AdmissionRequest): boolean {
  return operation === "UPDATE" && isDeepStrictEqual(specOf(object), specOf(oldObject));
}

function specOf(object: KubeObject): unknown {
  return (object as KubeObject & { readonly spec?: unknown }).spec;
}

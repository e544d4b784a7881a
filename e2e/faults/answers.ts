// Answers of an API server that a proxy gives in its place.
import { STATUS_CODES } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

interface FailureDetails {
  readonly reason?: string;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The reasons that Kubernetes has for its codes, where clients tell them apart by the reason. */
const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** A refusal with its metav1.Status, such as `failure(429, { headers: { "retry-after": "2" } })`. */
export function failure(code: number, details: FailureDetails = {}): Answer {
  return { status: code, ...(details.headers ? { headers: details.headers } : {}), body: status(code, details) };
}

/** A watch that is accepted and ends at once with an error as its only event: how an API server says most often that a version is gone. */
export function errorEvent(code: number, details: FailureDetails = {}): Answer {
  return { status: 200, ...(details.headers ? { headers: details.headers } : {}), body: { type: "ERROR", object: status(code, details) } };
}

function status(code: number, { reason = reasons[code], message = `${STATUS_CODES[code]}, by the fault proxy` }: FailureDetails): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, ...(reason ? { reason } : {}), code };
}

// The failures of calls, one class for each decision that a caller makes.

/** metav1.Status, the fields that we read. */
export interface Status {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly Cause[];
  };
}

export interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The call that failed, for messages. */
export interface Call {
  readonly method: string;
  readonly path: string;
}

/** Any failure of a call to the API server. */
export class KubeError extends Error {
  override readonly name: string = "KubeError";
}

/** The API server did not answer completely: whether a write took effect is unknown. */
export class Unreachable extends KubeError {
  override readonly name: string = "Unreachable";
}

/** The call took longer than its deadline. */
export class DeadlineExceeded extends Unreachable {
  override readonly name = "DeadlineExceeded";
}

/** The caller aborted the call. */
export class Aborted extends KubeError {
  override readonly name = "Aborted";
}

/** This process may not write any more. Nothing was sent. */
export class WriteRefused extends KubeError {
  override readonly name = "WriteRefused";
}

/** The API server answered with a failure. */
export class ApiError extends KubeError {
  override readonly name: string = "ApiError";
  readonly code: number;
  readonly reason: string;

  constructor(call: Call, code: number, status: Status) {
    super(`${call.method} ${call.path}: ${told(call, code, status)}`);
    this.code = code;
    this.reason = status.reason ?? "";
  }
}

export class NotFound extends ApiError {
  override readonly name = "NotFound";
}

/** For callers to whom a missing object is fine: `.catch(ignoreNotFound)`. */
export function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}

/** The object has changed since the version in the request, or another field manager owns a field. */
export class Conflict extends ApiError {
  override readonly name = "Conflict";
}

export class AlreadyExists extends ApiError {
  override readonly name = "AlreadyExists";
}

/** The resourceVersion is too old: list again. */
export class Gone extends ApiError {
  override readonly name = "Gone";
}

export class Unauthorized extends ApiError {
  override readonly name = "Unauthorized";
}

export class Forbidden extends ApiError {
  override readonly name = "Forbidden";
}

/** The API server asks to come back later: too many requests, or it can't answer now. */
export class TryLater extends ApiError {
  override readonly name = "TryLater";
  readonly retryAfterMilliseconds: number;

  constructor(call: Call, code: number, status: Status, retryAfterMilliseconds: number) {
    super(call, code, status);
    this.retryAfterMilliseconds = retryAfterMilliseconds;
  }
}

/** The API server refused the object as invalid; `causes` name the fields. */
export class Invalid extends ApiError {
  override readonly name = "Invalid";
  readonly causes: readonly Cause[];

  constructor(call: Call, code: number, status: Status) {
    super(call, code, status);
    const causes = status.details?.causes ?? [];
    this.causes = quotesSecrets(call) ? causes.map(({ message: _, ...cause }) => cause) : causes;
  }
}

export function apiError(call: Call, code: number, status: Status, retryAfter?: string): ApiError {
  const seconds = status.details?.retryAfterSeconds ?? Number(retryAfter ?? Number.NaN);
  // Only 429 always means "later"; a 5xx does when the server says how long.
  if (code === 429 || (code >= 500 && Number.isFinite(seconds))) {
    return new TryLater(call, code, status, Math.max(Number.isFinite(seconds) ? seconds : 1, 1) * 1000);
  }
  switch (code) {
    case 401:
      return new Unauthorized(call, code, status);
    case 403:
      return new Forbidden(call, code, status);
    case 404:
      return new NotFound(call, code, status);
    case 409:
      return status.reason === "AlreadyExists" ? new AlreadyExists(call, code, status) : new Conflict(call, code, status);
    case 410:
      return new Gone(call, code, status);
    case 422:
      return new Invalid(call, code, status);
    default:
      return new ApiError(call, code, status);
  }
}

/** The API server quotes refused values. Those of a Secret must not reach a log, so only its field names are shown. */
function told(call: Call, code: number, { message, reason, details }: Status): string {
  const plain = reason ?? `answered ${code}`;
  if (!quotesSecrets(call)) return message ?? plain;
  const fields = (details?.causes ?? []).map(({ field }) => field).filter((field) => field !== undefined);
  return fields.length > 0 ? `${plain} (${fields.join(", ")})` : plain;
}

function quotesSecrets({ path }: Call): boolean {
  return /\/secrets(\/|\?|$)/.test(path);
}

// Calls a handler, and turns an error or a timeout of it into a clear refusal.
import { type AdmissionRequest, denied, type Mutation } from "./admission.ts";

export type Handler = (request: AdmissionRequest, signal: AbortSignal) => Mutation | Promise<Mutation>;

export interface Decision {
  readonly verdict: Mutation;
  /** Set if the operator is at fault, not the request. */
  readonly failure?: { readonly code: 500 | 504; readonly message: string; readonly error: unknown };
}

/** Never rejects. */
export async function decide(handler: Handler, request: AdmissionRequest, timeoutMs: number): Promise<Decision> {
  const giveUp = new AbortController();
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => {
    giveUp.abort(new Error(`no decision within ${timeoutMs / 1000} s`));
    late.resolve("late");
  }, timeoutMs);
  try {
    const verdict = await Promise.race([handler(request, giveUp.signal), late.promise]);
    return verdict === "late"
      ? failed(504, "Timeout", `it did not decide within ${timeoutMs / 1000} s`, giveUp.signal.reason)
      : { verdict };
  } catch (error) {
    return failed(500, "InternalError", error instanceof Error ? error.message : String(error), error);
  } finally {
    clearTimeout(timer);
  }
}

function failed(code: 500 | 504, reason: string, what: string, error: unknown): Decision {
  const message = `the operator failed while it checked this request; the fault is the operator's, not the object's: ${what}`;
  return { verdict: denied({ message, reason, code }), failure: { code, message: what, error } };
}

// What only a person can mend before a run begins: a name that is taken, a quota that is full, an object that the API server refuses.
import { reasons } from "../../api/reasons.ts";
import { Occupied } from "../../runtime/controller/objects.ts";
import { Forbidden, Invalid } from "../../runtime/kube/errors.ts";

/** How a Backup or a Restore stands then. Throws any other error: the queue tries again, and may be done before anybody looks. */
export function waitingBecause(error: unknown) {
  if (!(error instanceof Occupied || error instanceof Forbidden || error instanceof Invalid)) throw error;
  return { kind: "waiting", reason: reasons.runRefused, message: error.message } as const;
}

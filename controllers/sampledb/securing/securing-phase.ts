// How far everything that a database has is in the archive: a pure function of what is observed. A deletion with `Snapshot` and a restore in
// place begin with it.
import type { SecuringPhase } from "../../../api/deletion-policy.ts";

export interface SecuringInputs {
  /** Pods of instances, also those that are going, or a StatefulSet that asks for some. */
  readonly running: boolean;
  /** A primary answers SQL and takes writes. */
  readonly serves: boolean;
  /** The clients of the present primary are cut off. */
  readonly cutOff: boolean;
  /** `good`: verified, in the present archive, and of the timeline of the primary that is there now. */
  readonly backup: "missing" | "open" | "failed" | "outdated" | "good";
  /** The Job on the stopped primary's volume. `refused`: the server has to run once more before anything can be said. */
  readonly check: "missing" | "open" | "refused" | "passed";
}

export function securingPhase({ running, serves, cutOff, backup, check }: SecuringInputs): SecuringPhase | "Secured" {
  if (backup === "good") {
    // Where it serves again, the refusal has had its effect.
    if (check === "refused" && !serves) return "Waking";
    if (running) return "Stopping";
    return check === "passed" ? "Secured" : "CheckingArchive";
  }
  if (!serves) return "Waking";
  return cutOff ? "BackingUp" : "CuttingOff";
}

/** Told in the condition: what happens now. */
export const securingWords: Readonly<Record<SecuringPhase, string>> = {
  Waking: "a primary has to serve, so that a last Backup can be made",
  CuttingOff: "applications are being disconnected",
  BackingUp: "the last Backup is being made",
  Stopping: "the last Backup is good, and the instances stop, the primary last",
  CheckingArchive: "the archive is compared with the log on the primary's volume",
};

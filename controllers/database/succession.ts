// Who could take over from the primary now. A pure function of what is observed.

import type { Observed } from "../sampledb/scope.ts";
import type { Instance } from "./instance.ts";

/** Replicas that Patroni would not let lead. They may well answer SQL, and be Ready as Kubernetes has it. */
export function unprepared({ instances, primary }: Pick<Observed, "instances" | "primary">): Instance[] {
  return instances.filter((instance) => instance !== primary && !instance.mayTakeOver);
}

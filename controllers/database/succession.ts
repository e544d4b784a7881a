// Who could take over from the primary now. A pure function of what is observed.

import type { Instance } from "./instance.ts";
import type { DatabaseView } from "./view.ts";

/** Replicas that Patroni would not let lead. They may well answer SQL, and be Ready as Kubernetes has it. */
export function unprepared({ instances, primary }: Pick<DatabaseView, "instances" | "primary">): Instance[] {
  return instances.filter((instance) => instance !== primary && !instance.mayTakeOver);
}

// Which replicas could take over from the primary now. A pure function of the observed database.
import type { Instance } from "./instance.ts";
import type { DatabaseView } from "./view.ts";

/** The replicas that Patroni would not let lead now. They may answer SQL, and their Pods may be Ready. */
export function unprepared({ instances, primary }: Pick<DatabaseView, "instances" | "primary">): Instance[] {
  return instances.filter((instance) => instance !== primary && !instance.mayTakeOver);
}

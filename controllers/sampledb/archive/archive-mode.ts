// Whether the instances archive: by the settings that they share, and by what still waits for their restart.
import type { Instance } from "../../database/instance.ts";
import type { DatabaseView } from "../../database/view.ts";

const setting = "archive_mode";

type Observed = Pick<DatabaseView, "patroni" | "instances">;

export function allArchive({ patroni, instances }: Observed): boolean {
  return isAskedFor(patroni) && !instances.some(waits);
}

export function someArchive({ patroni, instances }: Observed): boolean {
  return isAskedFor(patroni) || instances.some(waits);
}

function isAskedFor({ settings }: DatabaseView["patroni"]): boolean {
  return settings?.parameters?.[setting] === "on";
}

/** It runs with the value from before: until its restart, or until a person orders one. */
function waits({ pendingRestart, heldSettings }: Instance): boolean {
  return heldSettings.includes(setting) || (pendingRestart ?? []).some(({ name }) => name === setting);
}

// Lets go the volumes from before a restore in place, once the restored database has a good full Backup of its own.
import { done } from "../../../runtime/controller/steps.ts";
import { backupsOf, isFull, isGood } from "../../database/backups.ts";
import { presentArchive } from "../archive/new-archive.ts";
import type { SampleDBStep } from "../scope.ts";

export const formerVolumes: SampleDBStep = async (scope) => {
  const { db, key, client, deps, findings } = scope;
  const left = db.status?.formerVolumes ?? [];
  const present = presentArchive(scope);
  if (left.length === 0 || !present) return done;
  const isOfPresent = backupsOf(deps.cache, key).some(
    (backup) => isGood(backup) && isFull(backup) && backup.status?.repository?.stanza === present.stanza,
  );
  if (!isOfPresent) return done;
  for (const name of left) await deps.volumes.letGo(client, name, db);
  findings.formerVolumes = [];
  return done;
};

// Why the data of a SampleDB can't be replaced in place. A pure function, asked at admission, and again by the controller before it claims
// the SampleDB: nothing was changed by then.
import { conditionTypes } from "../../api/conditions.ts";
import { compareQuantities } from "../../kubernetes/quantity.ts";
import { isArchived, majorIn } from "../desired/store.ts";
import type { Restore, SampleDB } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";
import { isGood } from "./backups.ts";
import { restoreClaimOf } from "./in-place.ts";
import { chosenBackup, type KnownBackups } from "./restore-window.ts";

interface Asked extends KnownBackups {
  readonly restore: Restore;
}

/** Undefined where it can be replaced. */
export function unfit(asked: Asked, db: SampleDB | undefined): string | undefined {
  const named = `SampleDB ${asked.restore.spec.destination.sampleDBName}`;
  if (!db) return `${named} is not there: restore into a new one of this name (destination.type: New)`;
  const hindrance = heldUp(db);
  if (hindrance !== undefined) return hindrance;
  if (db.spec.powerState === "Hibernated") return `${named} is hibernated: set spec.powerState to Running first`;
  if (!isArchived(db)) return `${named} has no repository, so nothing from before could be brought back: set spec.backup first`;
  const rival = restoreClaimOf(db);
  // Of several that follow one that has left the data so, one alone gets it.
  const isLeft = db.status?.restore?.phase === "Overwritten" && db.status.restore.restoreUID === rival?.uid;
  if (rival && rival.uid !== asked.restore.metadata.uid && !isLeft) return `Restore ${rival.name} replaces the data of ${named} already`;
  if (conditionOf(db.status, conditionTypes.initialized)?.status !== "True") return `${named} has no data yet`;
  return unfitBackup(asked, db);
}

/** What a person has said since: also asked right before the first byte. */
export function heldUp({ metadata: { name, deletionTimestamp }, spec }: SampleDB): string | undefined {
  if (deletionTimestamp) return `SampleDB ${name} is being deleted`;
  if (spec.deletionProtection) return `SampleDB ${name} is protected: set spec.deletionProtection to false first`;
  return spec.paused ? `SampleDB ${name} is paused: set spec.paused to false first` : undefined;
}

function unfitBackup({ restore, backup, backups }: Asked, { metadata, spec, status }: SampleDB): string | undefined {
  const source = backup ?? chosenBackup(restore.spec.target, backups.filter(isGood));
  if (!source) return undefined; // the source has its own words for it
  const { name } = source.metadata;
  if (source.spec.sampleDBName !== metadata.name)
    return `Backup ${name} is of SampleDB ${source.spec.sampleDBName}: another one's data goes into a new SampleDB (destination.type: New)`;
  const [major, present] = [majorIn(source.status?.repository?.stanza ?? ""), Number(status?.postgresVersion?.split(".")[0])];
  if (major !== present && !Number.isNaN(major) && !Number.isNaN(present))
    return `Backup ${name} is of PostgreSQL ${major}, and the data of SampleDB ${metadata.name} is of ${present}: restore into a new one`;
  const bytes = source.status?.databaseBytes ?? 0;
  if ((compareQuantities(spec.storage.size, bytes) ?? 0) < 0)
    return `Backup ${name} has ${bytes} bytes of data, and spec.storage.size is ${spec.storage.size}: make it larger first`;
  return undefined;
}

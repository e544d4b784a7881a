// From which moment on a SampleDB can be restored. The newest moment moves all the time, so it is a metric and never in the status.
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { isGood } from "../../database/backups.ts";
import type { StatusInputs } from "./readiness.ts";

/**
 * Only of this SampleDB: Backups of an earlier one of the same name lie in another stanza. And only of the archive that has the newest good
 * Backup: an archive that began anew can't be reached from a Backup in the former one.
 */
export function recoverability({
  db: { metadata, status },
  backups,
  findings: { archive },
}: StatusInputs): Pick<SampleDBStatus, "lastSuccessfulBackupTime" | "firstRecoverableTime"> {
  const good = backups.filter((backup) => isGood(backup) && backup.status?.repository?.stanza.startsWith(`${metadata.uid}-`));
  const newest = good.toSorted((a, b) => (a.status?.completionTime ?? "").localeCompare(b.status?.completionTime ?? "")).at(-1)?.status;
  const together = good.filter((backup) => backup.status?.repository?.stanza === newest?.repository?.stanza);
  const moments = together.flatMap((backup) => backup.status?.consistentTime ?? []).sort();
  const first = afterGaps(moments, archive?.window?.first?.at ?? status?.firstRecoverableTime);
  return {
    ...(newest?.completionTime === undefined ? {} : { lastSuccessfulBackupTime: newest.completionTime }),
    ...(first === undefined ? {} : { firstRecoverableTime: first }),
  };
}

/** `unbroken` is the end of the oldest backup after which nothing is missing. Its Backup may be deleted since the repository looked. */
function afterGaps(moments: readonly string[], unbroken = ""): string | undefined {
  return moments.find((moment) => moment >= unbroken) ?? (moments.length > 0 ? unbroken : undefined);
}

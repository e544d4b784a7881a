// The Backup of everything that a database has, before its data goes or is overwritten: made, judged, and made anew where it can't be relied on. Its own controller carries it
// out.
import { after, type Result } from "../../../runtime/controller/result.ts";
import { AlreadyExists, ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { isGood } from "../../database/backups.ts";
import { hasEnded } from "../../database/ended.ts";
import { type Backup, backups } from "../../kinds/sampledb-io.ts";
import { presentArchive } from "../archive/new-archive.ts";
import type { Scope } from "../scope.ts";
import type { SecuringInputs } from "./securing-phase.ts";

/** A store that was away may be back then. */
const tryAgainSeconds = 60;
const lookSeconds = 5;

/** Why everything is secured, and how the Backup for that looks. */
export interface Cause {
  readonly backup: Backup;
  /** One that somebody made under its name before this moment does not have the last rows. */
  readonly since: string;
}

export function findLast({ deps }: Pick<Scope, "deps">, { backup }: Cause): Backup | undefined {
  return deps.cache.watched(backups).get(keyOf(backup));
}

/**
 * After a failover the log between the Backup and the new primary may be on a lost volume only, and a new archive lacks what is in the
 * former one. Such a Backup is good by itself, but does not lead to the last commit.
 */
export function judge(
  scope: Pick<Scope, "db" | "observed">,
  found: Backup | undefined,
  { since }: Pick<Cause, "since">,
): SecuringInputs["backup"] {
  if (!found || found.metadata.deletionTimestamp) return "missing";
  if (!hasEnded(found)) return "open";
  if (!isGood(found)) return "failed";
  const isOfCause = (found.metadata.creationTimestamp ?? "") >= since;
  const { timeline, repository } = found.status ?? {};
  const led = scope.observed.primary?.timeline;
  const isPresent = repository?.stanza === presentArchive(scope)?.stanza;
  return isOfCause && timeline !== undefined && isPresent && (led === undefined || led === timeline) ? "good" : "outdated";
}

/** Makes it where it is missing. One that failed or is outdated goes first: what it left in the repository stays. */
export async function keepLast(
  { client, deps }: Scope,
  { backup }: Cause,
  found: Backup | undefined,
  stands: SecuringInputs["backup"],
): Promise<Result> {
  if (!found) {
    await client.create(backups, backup).catch((error: unknown) => {
      if (!(error instanceof AlreadyExists)) throw error; // the cache is behind
    });
    return after(lookSeconds);
  }
  if (stands === "outdated" || (stands === "failed" && secondsSince(found, deps.now()) >= tryAgainSeconds)) {
    const { uid, resourceVersion } = found.metadata;
    await client.delete(backups, keyOf(found), { uid, resourceVersion }).catch(ignoreNotFound);
  }
  return after(lookSeconds);
}

function secondsSince({ status }: Backup, now: Date): number {
  return (now.getTime() - Date.parse(status?.completionTime ?? "1970-01-01T00:00:00Z")) / 1000;
}

// Whether a Restore whose source is known may begin now: not while retention removes what it reads, and when it is its turn.
import { reasons } from "../../api/reasons.ts";
import { isBeingExpired } from "../database/backups.ts";
import { backups } from "../kinds/sampledb-io.ts";
import { restoreOperation } from "../permits/cached-permits.ts";
import type { Scope } from "./scope.ts";
import type { Found } from "./source.ts";
import { type RestoreState, waiting } from "./state.ts";

export async function notItsTurn({ restore, client, key, deps }: Scope, { source }: Found): Promise<RestoreState | undefined> {
  // Read live: the claim of an expiry is written before the expiry looks for Restores. So one of the two sees the other.
  const { items } = await client.list(backups, { namespace: key.namespace });
  const going = items.find((backup) => isBeingExpired(backup) && backup.status?.repository?.stanza === source.stanza);
  if (going)
    return waiting(
      reasons.sourceNotReady,
      `retention removes Backup ${going.metadata.name} from the repository: it begins when that is over`,
    );
  const permit = await deps.permits.ask(restoreOperation(deps.cache, restore));
  return permit.granted ? undefined : waiting(reasons.turnAwaited, permit.message);
}

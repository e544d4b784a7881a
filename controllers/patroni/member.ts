// What Patroni tells of a member, in an annotation of its Pod. Patroni writes it anew in each loop, because the position in the log moves.
// A superuser of the database can write there in Patroni's place, so the reader takes nothing for granted.
import { jsonAnnotation } from "../kinds/json-annotation.ts";
import type { Pod } from "../kinds/kubernetes.ts";

export interface Member {
  readonly state?: string;
  readonly role?: string;
  readonly timeline?: number;
  readonly replication_state?: string;
  readonly pending_restart?: boolean;
  readonly pending_restart_reason?: Readonly<Record<string, { old_value?: unknown; new_value?: unknown } | null>> | null;
  readonly xlog_location?: number;
}

export function memberOf(pod: Pod): Member {
  return jsonAnnotation<Member>(pod, "status");
}

// Patroni's report on a member, in an annotation of the member's Pod. Patroni writes it in every loop, because the log position moves.
// A superuser of the database can write there in Patroni's place: any field may be missing or wrong.
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

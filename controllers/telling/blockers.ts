// Blockers: entries of `status.blockers`, with the time since when the status has each of them.
import type { BlockerReason } from "../../api/reasons.ts";
import { secondsOnly } from "../../runtime/controller/conditions.ts";

/** Something that stands in the way, and that a person can do something about. */
export interface Blocker {
  readonly reason: BlockerReason;
  readonly message: string;
  readonly remedy: string;
}

/** A blocker in a stored status. Another version of the operator may have written it, so its reason can be any text. */
export interface ToldBlocker {
  readonly reason: string;
  readonly message: string;
  readonly remedy: string;
  readonly sinceTime: string;
}

const most = 16;
const longest = 4096;

/** The blockers for the next status. A blocker keeps its `sinceTime` for as long as its reason and message stay the same. */
export function tellBlockers(before: readonly ToldBlocker[] | undefined, found: readonly Blocker[], now: Date): ToldBlocker[] {
  return found.slice(0, most).map(({ reason, message, remedy }) => {
    const told = { reason, message: message.slice(0, longest), remedy };
    return { ...told, sinceTime: sinceTime(before, told) ?? secondsOnly(now) };
  });
}

/**
 * For how many seconds the stored status has had this blocker; 0 where it has not. The blocker leaves the status during a pause, and
 * whenever a reconcile does not find it. So a decision that waits for this is safe from the stale memory of one process.
 */
export function toldSeconds(before: readonly ToldBlocker[] | undefined, blocker: Blocker, now: Date): number {
  const since = sinceTime(before, { ...blocker, message: blocker.message.slice(0, longest) });
  return since === undefined ? 0 : Math.max(0, (now.getTime() - Date.parse(since)) / 1000);
}

function sinceTime(
  before: readonly ToldBlocker[] | undefined,
  { reason, message }: Pick<ToldBlocker, "reason" | "message">,
): string | undefined {
  return before?.find((blocker) => blocker.reason === reason && blocker.message === message)?.sinceTime;
}

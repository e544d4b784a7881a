// Blockers: what stands in the way, what a person can do about it, and since when it is told.
import type { BlockerReason } from "../../api/reasons.ts";
import { secondsOnly } from "../../runtime/controller/conditions.ts";

/** Something that stands in the way, and that a person can do something about. */
export interface Blocker {
  readonly reason: BlockerReason;
  readonly message: string;
  readonly remedy: string;
}

/** As a status has it: its reason may be of another version of the operator. */
export interface ToldBlocker {
  readonly reason: string;
  readonly message: string;
  readonly remedy: string;
  readonly sinceTime: string;
}

const most = 16;
const longest = 4096;

/** As they go into the status. A blocker keeps its time for as long as it is told with the same words. */
export function tellBlockers(before: readonly ToldBlocker[] | undefined, found: readonly Blocker[], now: Date): ToldBlocker[] {
  return found.slice(0, most).map(({ reason, message, remedy }) => {
    const told = { reason, message: message.slice(0, longest), remedy };
    return { ...told, sinceTime: sinceTime(before, told) ?? secondsOnly(now) };
  });
}

/**
 * For how many seconds the stored status has told it; 0 where it does not. A pause, and a look at which it was not so, take it out of the
 * status: what rests on this can't be hurried by the memory of one process.
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

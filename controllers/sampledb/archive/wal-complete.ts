// Whether the newest moment can be restored, and what is missing: the condition WALComplete. Pure functions of what the repository found.
// No message tells how far the archive is: that moves all the time, and a status that is true must not be written again.
import type { Condition } from "../../../api/conditions.ts";
import { reasons } from "../../../api/reasons.ts";
import type { RecoveryWindow } from "../../repository/answers.ts";
import type { Blocker } from "../../telling/blockers.ts";
import { no, type Verdict } from "../../telling/checks.ts";

export function walVerdict(window: RecoveryWindow | undefined, before: Condition | undefined): Verdict {
  // After a restart of the operator or of the repository nobody has looked yet: what was told before is the best that is known.
  if (window?.at === undefined) return (before as Verdict | undefined) ?? notLookedAt(window);
  if (window.backupCount === 0) return withoutBackup(window);
  if (window.complete) return window.gapCount > 0 ? gapPassed(window) : complete;
  if (window.gapCount > 0) return no(reasons.archiveGap, `${gapsOf(window)}. ${windowThatRemains(window)}`);
  return (before as Verdict | undefined) ?? notLookedAt(window); // something is missing since just now, and may be on its way
}

export function walBlocker({ status, reason, message }: Verdict): Blocker | undefined {
  if (status !== "False" || reason !== reasons.archiveGap) return undefined;
  return {
    reason,
    message,
    remedy: "make a full Backup now; if the Pod of a former primary is down, bring it back first: it pushes what it has left",
  };
}

const complete: Verdict = {
  status: "True",
  reason: reasons.archiveComplete,
  message: "every moment from firstRecoverableTime to the newest segment in the archive can be restored",
};

function notLookedAt(window: RecoveryWindow | undefined): Verdict {
  const { failure } = window ?? {};
  const message = failure ? `the repository can't list its archive: ${failure.reason}` : "the repository has not listed its archive yet";
  return { status: "Unknown", reason: reasons.archiveUnlisted, message };
}

function withoutBackup({ timeline }: RecoveryWindow): Verdict {
  if (timeline === undefined)
    return {
      status: "Unknown",
      reason: reasons.noBackupYet,
      message: "the archive has no good backup: nothing can be restored from it yet",
    };
  return no(
    reasons.archiveGap,
    `no good backup leads to timeline ${timeline}, the newest one in the archive: what is on it can't be restored until there is a full backup`,
  );
}

function gapPassed(window: RecoveryWindow): Verdict {
  const { oldest, first, gaps } = window;
  const before = gaps.at(-1)?.before;
  const rest = oldest && before !== undefined && oldest.at < before ? ` From ${oldest.at} to ${before} can be restored up to the gap.` : "";
  return no(
    reasons.archiveGapPassed,
    `${gapsOf(window)}. Every moment from ${first?.at ?? "the last full backup"} to now can be restored; none between the gap and that one.${rest}`,
  );
}

function windowThatRemains({ first, last }: RecoveryWindow): string {
  if (!first || !last) return "Nothing can be restored from this archive until there is a full backup";
  return `From ${first.at} to ${last.at} can be restored, and nothing later until there is a full backup`;
}

/** The last one: those before it lie in a window that is older still. */
function gapsOf({ gaps, gapCount }: RecoveryWindow): string {
  const gap = gaps.at(-1);
  if (!gap) return "segments are missing in the archive";
  const others = gapCount > 1 ? `, and there are ${gapCount - 1} more gaps before it` : "";
  return gap.count === 1
    ? `segment ${gap.first} is missing in the archive${others}`
    : `the ${gap.count} segments from ${gap.first} to ${gap.last} are missing in the archive${others}`;
}

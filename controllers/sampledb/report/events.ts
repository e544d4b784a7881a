// The Events of a SampleDB: they follow from the difference between the stored status and the next one.
import { conditionTypes } from "../../../api/conditions.ts";
import { passedOn, reasons } from "../../../api/reasons.ts";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import type { DescribedEvent } from "../../telling/described-events.ts";
import { conditionOf, newBlockers } from "../../telling/events.ts";

export function eventsBetween(before: SampleDBStatus | undefined, now: SampleDBStatus): DescribedEvent[] {
  return [
    ...primaryChange(before, now),
    ...readinessChange(before, now),
    ...initializationChange(before, now),
    ...gapClosed(before, now),
    ...slotsWithoutBackup(before, now),
    ...newBlockers(before, now),
  ];
}

function primaryChange(before: SampleDBStatus | undefined, { primaryPodName: name }: SampleDBStatus): DescribedEvent[] {
  if (name === undefined || before?.primaryPodName === name) return [];
  const note =
    before?.primaryPodName === undefined ? `${name} is the primary` : `${name} is the primary now; before it was ${before.primaryPodName}`;
  return [{ type: "Normal", reason: reasons.primaryChanged, action: "Elect", note }];
}

function readinessChange(before: SampleDBStatus | undefined, now: SampleDBStatus): DescribedEvent[] {
  const [was, is] = [conditionOf(before, conditionTypes.ready), conditionOf(now, conditionTypes.ready)];
  if (!is || was?.status === is.status) return [];
  if (is.status === "True") return [{ type: "Normal", reason: reasons.ready, action: "Observe", note: is.message }];
  return was ? [{ type: "Warning", reason: reasons.notReady, action: "Observe", note: `${is.reason}: ${is.message}` }] : [];
}

/** That segments are missing is told by a blocker. */
function gapClosed(before: SampleDBStatus | undefined, now: SampleDBStatus): DescribedEvent[] {
  const [was, is] = [conditionOf(before, conditionTypes.walComplete), conditionOf(now, conditionTypes.walComplete)];
  const isOver = was?.reason === reasons.archiveGap && (is?.status === "True" || is?.reason === reasons.archiveGapPassed);
  return isOver && is ? [{ type: "Normal", reason: reasons.archiveComplete, action: "Observe", note: is.message }] : [];
}

function initializationChange(before: SampleDBStatus | undefined, now: SampleDBStatus): DescribedEvent[] {
  const [was, is] = [conditionOf(before, conditionTypes.initialized), conditionOf(now, conditionTypes.initialized)];
  if (is?.status !== "True" || was?.status === "True") return [];
  return [{ type: "Normal", reason: reasons.initialized, action: "Initialize", note: is.message }];
}

/** A slot that waits, or is left out. That a Backup was made is told by the step that made it. */
function slotsWithoutBackup(before: SampleDBStatus | undefined, { schedules = [] }: SampleDBStatus): DescribedEvent[] {
  const known = new Set(before?.schedules?.map(({ name, message }) => `${name} ${message}`));
  return schedules
    .filter(({ name, message }) => message !== undefined && !known.has(`${name} ${message}`))
    .map(({ name, reason = "", message = "" }) => ({
      type: reason === reasons.slotMissed ? "Warning" : "Normal",
      reason: passedOn(reason),
      action: "BackUp",
      note: `schedule ${name}: ${message}`,
    }));
}

// What a person would want to know, found by comparing what was told with what is told now.
import { conditionTypes } from "../../../api/conditions.ts";
import { passedOn, reasons } from "../../../api/reasons.ts";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import type { DescribedEvent } from "../../telling/described-events.ts";

export function eventsBetween(before: SampleDBStatus | undefined, now: SampleDBStatus): DescribedEvent[] {
  return [
    ...primaryChange(before, now),
    ...readinessChange(before, now),
    ...initializationChange(before, now),
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
  const [was, is] = [ofType(before, conditionTypes.ready), ofType(now, conditionTypes.ready)];
  if (!is || was?.status === is.status) return [];
  if (is.status === "True") return [{ type: "Normal", reason: reasons.ready, action: "Observe", note: is.message }];
  return was ? [{ type: "Warning", reason: reasons.notReady, action: "Observe", note: `${is.reason}: ${is.message}` }] : [];
}

function initializationChange(before: SampleDBStatus | undefined, now: SampleDBStatus): DescribedEvent[] {
  const [was, is] = [ofType(before, conditionTypes.initialized), ofType(now, conditionTypes.initialized)];
  if (is?.status !== "True" || was?.status === "True") return [];
  return [{ type: "Normal", reason: reasons.initialized, action: "Initialize", note: is.message }];
}

function newBlockers(before: SampleDBStatus | undefined, { blockers = [] }: SampleDBStatus): DescribedEvent[] {
  const known = new Set(before?.blockers?.map(({ reason, message }) => `${reason} ${message}`));
  return blockers
    .filter(({ reason, message }) => !known.has(`${reason} ${message}`))
    .map(({ reason, message, remedy }) => ({
      type: "Warning",
      reason: passedOn(reason),
      action: "Reconcile",
      note: `${message}. Way out: ${remedy}`,
    }));
}

function ofType(status: SampleDBStatus | undefined, wanted: string) {
  return status?.conditions?.find(({ type }) => type === wanted);
}

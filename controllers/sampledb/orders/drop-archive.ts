// Carries out the order to give up an archive whose store is gone for good: a new archive begins, and the segments that wait for the former
// one are let go. Only a person knows that the store won't come back.
import { dropAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { after } from "../../../runtime/controller/result.ts";
import { done, doneUntil, type StepResult, waitFor } from "../../../runtime/controller/steps.ts";
import { lastPrimary } from "../../database/view.ts";
import { type Begun, nextArchive } from "../../desired/archive-notes.ts";
import { beginArchive, type PresentArchive, presentArchive } from "../archive/new-archive.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { type Drop, dropOf, dropOrder } from "./drop-order.ts";
import { settleOrder } from "./settle-order.ts";

const lookAgainSeconds = 10;
const goOnSeconds = 1;

export const dropArchive: SampleDBStep = async (scope) => {
  const present = presentArchive(scope);
  const order = dropOrder(scope.db, present);
  if (order.kind === "refused") return await refuse(scope, order.why);
  if (order.kind === "carriedOut") return await settle(scope, order.begun);
  return order.kind === "open" && present ? await carryOut(scope, present) : done;
};

async function carryOut(scope: Scope, present: PresentArchive): Promise<StepResult> {
  const { deps, findings } = scope;
  const former = present.stanza;
  const drop = await askWhatWaits(scope);
  if (drop.kind === "refused") return await refuse(scope, drop.why);
  if (drop.kind === "waits") {
    const message = `archive ${former} is to be given up, and waits: ${drop.why}`;
    findings.blockers.push({ reason: reasons.dropWaits, message, remedy: `wait, or take the annotation ${dropAnnotation} off` });
    return doneUntil(lookAgainSeconds);
  }
  const begun = { because: "Dropped", at: deps.now().toISOString(), former, lostSince: drop.lostSince } as const;
  // Noted before the order is taken off: after a crash, the next operator must not let go what was written meanwhile.
  await beginArchive(scope, present, nextArchive(present.notes, begun, drop.letGo));
  return await settle(scope, begun);
}

/** The primary is asked, or the last one while there is none: also while PostgreSQL is down there, because its volume is full. */
async function askWhatWaits({ db, observed, deps }: Scope): Promise<Drop> {
  const last = lastPrimary(db, observed);
  const primary = observed.primary ?? observed.instances.find(({ ordinal }) => ordinal === last);
  const question = primary && deps.archiveQuestions(db, { ...observed, primary }).primary;
  if (!question) return { kind: "waits", why: "there is no primary to ask which segments wait" };
  try {
    return dropOf(await question(), observed.patroni.settings?.systemIdentifier, deps.now());
  } catch (error) {
    return { kind: "waits", why: `${primary.podName} does not say which segments wait: ${(error as Error).message}` };
  }
}

async function settle(scope: Scope, { former, at, lostSince }: Begun): Promise<StepResult> {
  const note = `archive ${former} was given up at ${at}, and a new one begins: what was written since ${lostSince} can't be restored until a full backup is made`;
  await settleOrder(scope, dropAnnotation, null);
  scope.deps.events.record(scope.db, { type: "Warning", reason: reasons.archiveDropped, action: "DropArchive", note });
  return waitFor("the notes of the new archive", after(goOnSeconds));
}

async function refuse(scope: Scope, why: string): Promise<StepResult> {
  const note = `${why}; the order is dropped`;
  scope.deps.events.record(scope.db, { type: "Warning", reason: reasons.dropRefused, action: "DropArchive", note });
  await settleOrder(scope, dropAnnotation, null);
  return done;
}

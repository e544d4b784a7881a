// What the schedules of a SampleDB ask for now: a pure function of the spec, of what the status says of earlier slots, and of the clock.
import { expressionOf } from "../../../api/checks/schedule.ts";
import { reasons } from "../../../api/reasons.ts";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { secondsOnly } from "../../../runtime/controller/conditions.ts";
import { lastSlot, nextSlot, type Schedule } from "./slots.ts";

export type ScheduleState = NonNullable<SampleDBStatus["schedules"]>[number];

export interface Inputs {
  readonly schedules: readonly Schedule[];
  /** As the stored status has them. */
  readonly told: readonly ScheduleState[];
  readonly now: Date;
  readonly hibernated: boolean;
  /**
   * The name of a Backup that a schedule has made for another slot, and that is not over. Asked only where a slot has come. The Backup of that
   * very slot is there where an operator has ended before it could tell: it must not wait for itself.
   */
  readonly open: (due: Due) => string | undefined;
}

export interface Due {
  readonly schedule: Schedule;
  readonly slot: Date;
}

export interface Plan {
  /** One Backup at most: of all that is due the fullest. */
  readonly make: Due | undefined;
  /** For the next status, once the Backup is made. */
  readonly states: ScheduleState[];
  /** When to look again. */
  readonly wake: Date | undefined;
}

const fullness = { Full: 2, Differential: 1, Incremental: 0 } as const;

/** A clock that was wrong is seldom set back by more. A last slot further ahead was made by a clock that was wrong, and counts for nothing. */
const longestStepBack = 86_400_000;

export function planOf(inputs: Inputs): Plan {
  const { schedules, told, now, hibernated, open } = inputs;
  const views = schedules.map((schedule) =>
    lookAt(
      schedule,
      told.find(({ name }) => name === schedule.name),
      now,
    ),
  );
  const due = views.flatMap(({ due }) => due ?? []).sort((a, b) => fullness[b.schedule.type] - fullness[a.schedule.type]);
  const [fullest] = due;
  const blocking = fullest && !hibernated ? open(fullest) : undefined;
  const make = hibernated || blocking !== undefined ? undefined : fullest;
  const states = views.map(({ state, next, due }) => {
    const moved = { ...state, ...(next ? { nextScheduleTime: secondsOnly(next) } : {}) };
    if (!due) return moved;
    const slot = secondsOnly(due.slot);
    if (hibernated) return { ...moved, reason: reasons.slotHibernated, message: `slot ${slot} is left out: the database is hibernated` };
    if (blocking !== undefined) {
      const waits = `slot ${secondsOnly(due.first)} waits for the end of Backup ${blocking}`;
      return { ...state, nextScheduleTime: secondsOnly(due.first), reason: reasons.slotWaits, message: waits };
    }
    if (due.schedule.name === make?.schedule.name) return made(moved, slot);
    const covering = `slot ${slot} is left out: schedule ${make?.schedule.name} makes a backup now that is as full or fuller`;
    return { ...moved, reason: reasons.slotCovered, message: covering };
  });
  return { make, states, wake: earliest(views.map(({ due, next }) => (due && blocking !== undefined ? due.until : next))) };
}

interface View {
  /** What stays of the stored state, without the next slot. */
  readonly state: ScheduleState;
  /** The first slot after now. */
  readonly next: Date | undefined;
  /** `first` is the slot that came first, `slot` the last one, which is the one that counts. It may begin until `until`. */
  readonly due?: Due & { readonly first: Date; readonly until: Date };
}

function lookAt(schedule: Schedule, told: ScheduleState | undefined, now: Date): View {
  const expression = expressionOf(schedule);
  const last = told?.lastScheduleTime;
  const state = { name: schedule.name, expression, ...(last === undefined ? {} : { lastScheduleTime: last }) };
  if (schedule.suspend) return { state, next: undefined };
  const next = nextSlot(schedule, laterOf(now, last));
  if (told?.nextScheduleTime === undefined || told.expression !== expression) return { state, next };
  const why = { ...(told.reason === undefined ? {} : { reason: told.reason, message: told.message ?? "" }) };
  const first = new Date(told.nextScheduleTime);
  // Computed anew also where it is ahead: the clock may have been set back since.
  if (first > now) return { state: { ...state, ...why }, next };
  const deadline = schedule.startingDeadlineSeconds * 1000;
  const inTime = new Date(Math.max(first.getTime(), now.getTime() - deadline));
  const slot = lastSlot(schedule, inTime, now);
  if (slot) return { state: { ...state, ...why }, next, due: { schedule, slot, first, until: new Date(slot.getTime() + deadline + 1000) } };
  const missed = `slot ${secondsOnly(first)} is left out: it was missed by more than ${schedule.startingDeadlineSeconds} s (startingDeadlineSeconds)`;
  return { state: { ...state, reason: reasons.slotMissed, message: missed }, next };
}

/** After the last slot that a Backup was made for: a clock that is set back brings the same minutes once more. */
function laterOf(now: Date, last: string | undefined): Date {
  const made = Date.parse(last ?? "");
  return made > now.getTime() && made <= now.getTime() + longestStepBack ? new Date(made) : now;
}

function made({ reason: _, message: __, ...state }: ScheduleState, slot: string): ScheduleState {
  return { ...state, lastScheduleTime: slot };
}

function earliest(moments: readonly (Date | undefined)[]): Date | undefined {
  const [soonest] = moments.flatMap((moment) => moment ?? []).sort((a, b) => a.getTime() - b.getTime());
  return soonest;
}

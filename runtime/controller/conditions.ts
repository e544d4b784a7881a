// Conditions of a status, as metav1.Condition has them.

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number | undefined;
}

/** What is told now; the times follow from what was told before. */
export type ConditionNow = Omit<Condition, "lastTransitionTime" | "observedGeneration">;

/**
 * The conditions that a status says now. The transition time of one is kept for as long as its status is the same, so that
 * saying the same again is no change; one that is not said any more goes.
 */
export function conditionsNow(
  before: readonly Condition[] | undefined,
  now: readonly ConditionNow[],
  generation: number | undefined,
  clock: () => Date,
): Condition[] {
  return now.map((condition) => {
    const previous = before?.find(({ type }) => type === condition.type);
    const lastTransitionTime = previous?.status === condition.status ? previous.lastTransitionTime : secondsOnly(clock());
    return { ...condition, lastTransitionTime, ...(generation === undefined ? {} : { observedGeneration: generation }) };
  });
}

/** metav1.Time has no fractions, and a time that comes back different from how it was sent would never look converged. */
export function secondsOnly(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, "Z");
}

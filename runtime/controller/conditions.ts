// Conditions of a status, in the form of metav1.Condition.

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number | undefined;
}

/** A condition without the fields that follow from the previous status and the generation. */
export type ConditionNow = Omit<Condition, "lastTransitionTime" | "observedGeneration">;

/**
 * The conditions of the new status. A condition whose status is unchanged keeps its transition time, so that repeating it is no
 * change; a condition that is absent from `now` is dropped.
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

/** metav1.Time drops fractions. A time that is read back different from how it was sent would never look converged. */
export function secondsOnly(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, "Z");
}

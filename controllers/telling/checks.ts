// A chain of pure checks over one input. The first check that finds something decides.
import type { ConditionReason } from "../../api/reasons.ts";
import type { ConditionNow } from "../../runtime/controller/conditions.ts";

export type Verdict = Omit<ConditionNow, "type"> & { readonly reason: ConditionReason };
export type Check<Inputs> = (inputs: Inputs) => Verdict | undefined;

export const no = (reason: ConditionReason, message: string): Verdict => ({ status: "False", reason, message });

/** The verdict of the first check that finds something. */
export function first<Inputs>(checks: readonly Check<Inputs>[], inputs: Inputs): Verdict | undefined {
  for (const check of checks) {
    const verdict = check(inputs);
    if (verdict) return verdict;
  }
  return undefined;
}

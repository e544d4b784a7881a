// Which ordinals are to run now. It is not always what the spec says: the primary is never taken away by a change of number, the last
// primary stops last and starts first, and everything else follows it.
import type { InstanceRange } from "../../desired/instances.ts";

export interface RangeInputs {
  readonly wanted: number;
  readonly powerState: "Running" | "Hibernated";
  /** Of the StatefulSet; undefined when there is none. */
  readonly current: InstanceRange | undefined;
  /** The ordinals of the Pods that are there, also of those that are going. */
  readonly pods: readonly number[];
  /** The ordinal of the primary that serves. */
  readonly primary: number | undefined;
  /** The ordinal of who was primary last, when none serves. */
  readonly lastPrimary: number | undefined;
  /** A person has said that the data of the last primary is gone for good: the others are to do with what they have. */
  readonly givenUp: boolean;
  /** There is data: whoever starts must have the newest. */
  readonly initialized: boolean;
}

export function instanceRange(inputs: RangeInputs): InstanceRange {
  return inputs.powerState === "Hibernated" ? hibernating(inputs) : running(inputs);
}

/** Replicas first, so that they have all that the primary wrote; then the primary. */
function hibernating({ current, pods, primary, lastPrimary }: RangeInputs): InstanceRange {
  if (current?.count === 0) return current;
  const last = primary ?? lastPrimary ?? current?.start ?? 0;
  const othersLeft = pods.some((ordinal) => ordinal !== last);
  return { start: last, count: othersLeft && pods.includes(last) ? 1 : 0 };
}

function running({ wanted, current, primary, lastPrimary, givenUp, initialized }: RangeInputs): InstanceRange {
  // Any of them may be at it to make the data: taken away, it would be waited for by all others for ever.
  if (!initialized) return { start: 0, count: Math.max(wanted, current?.count ?? 0) };
  // A primary beyond what is wanted stays until it has been switched over.
  if (primary !== undefined) return { start: 0, count: Math.max(wanted, primary + 1) };
  const startsAlone = !current || current.count === 0 || (current.count === 1 && current.start === lastPrimary);
  if (startsAlone && !givenUp) return { start: lastPrimary ?? 0, count: 1 };
  // Nobody leads at the moment, and who will is not known: nobody is taken away, and who led last is there to be chosen.
  const end = Math.max(wanted, (current?.start ?? 0) + (current?.count ?? 0), (lastPrimary ?? 0) + 1);
  return { start: 0, count: end };
}

// Which ordinals run now. It can differ from the spec: a change of `replicas` never takes the primary away, and the last primary stops last
// and starts first, because it has the newest data. A pure function.
import type { InstanceRange } from "../../desired/instances.ts";

export interface RangeInputs {
  readonly wanted: number;
  readonly powerState: "Running" | "Hibernated";
  /** The StatefulSet's range; undefined when there is none. */
  readonly current: InstanceRange | undefined;
  /** The ordinals of the Pods that are there, also of those that are being deleted. */
  readonly pods: readonly number[];
  /** The ordinal of the primary that serves. */
  readonly primary: number | undefined;
  /** The ordinal of the last primary, for when none serves. */
  readonly lastPrimary: number | undefined;
  /** A person has said that the data of the last primary is gone for good. The others must go on with their own data. */
  readonly givenUp: boolean;
  /** There is data, so the first instance to start must be the one with the newest. */
  readonly initialized: boolean;
}

export function instanceRange(inputs: RangeInputs): InstanceRange {
  return inputs.powerState === "Hibernated" ? hibernating(inputs) : running(inputs);
}

/** The replicas stop first, while the primary is still there to send them its log; then the primary. */
function hibernating({ current, pods, primary, lastPrimary }: RangeInputs): InstanceRange {
  if (current?.count === 0) return current;
  const last = primary ?? lastPrimary ?? current?.start ?? 0;
  const othersLeft = pods.some((ordinal) => ordinal !== last);
  return { start: last, count: othersLeft && pods.includes(last) ? 1 : 0 };
}

function running({ wanted, current, primary, lastPrimary, givenUp, initialized }: RangeInputs): InstanceRange {
  // Any instance may be making the data. If it were taken away, all others would wait for it for ever.
  if (!initialized) return { start: 0, count: Math.max(wanted, current?.count ?? 0) };
  // A primary with an ordinal beyond `replicas` stays until it has handed over.
  if (primary !== undefined) return { start: 0, count: Math.max(wanted, primary + 1) };
  const startsAlone = !current || current.count === 0 || (current.count === 1 && current.start === lastPrimary);
  if (startsAlone && !givenUp) return { start: lastPrimary ?? 0, count: 1 };
  // No instance leads now, and Patroni has yet to elect one: so none is taken away, and the last primary is there to be elected.
  const end = Math.max(wanted, (current?.start ?? 0) + (current?.count ?? 0), (lastPrimary ?? 0) + 1);
  return { start: 0, count: end };
}

// Who is to lead where the instances can't agree by themselves. A pure function of what they tell.
import type { Instance } from "../../database/instance.ts";

export interface Candidate extends Pick<Instance, "podName" | "ready" | "role" | "timeline"> {
  /** In the log, in bytes. */
  readonly position: number | undefined;
}

export interface Circumstances {
  readonly wanted: number;
  /** Who had more than all of them, and is gone for good. */
  readonly givenUp: string | undefined;
}

/**
 * Of those that answer, the one with the most of the newest history. Undefined where they find it out by themselves, or where one was given
 * up and somebody else, who might have more than those that answer, does not.
 */
export function heirOf(candidates: readonly Candidate[], { wanted, givenUp }: Circumstances): string | undefined {
  const others = candidates.filter(({ podName }) => podName !== givenUp);
  const known = others.filter(
    ({ ready, role, timeline, position }) => ready && role === "Replica" && timeline !== undefined && position !== undefined,
  );
  const isParted = new Set(known.map(({ timeline }) => timeline)).size > 1;
  const isComplete = known.length === others.length && known.length >= wanted - 1;
  if (givenUp === undefined ? !isParted : !isComplete) return undefined;
  const [heir] = known.toSorted((a, b) => (b.timeline ?? 0) - (a.timeline ?? 0) || (b.position ?? 0) - (a.position ?? 0));
  return heir?.podName;
}

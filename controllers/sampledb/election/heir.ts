// The instance that should lead where Patroni can't elect one. A pure function of the instances' reports.
import type { Instance } from "../../database/instance.ts";

export interface Candidate extends Pick<Instance, "podName" | "ready" | "role" | "timeline"> {
  /** Its position in the write-ahead log, in bytes. */
  readonly position: number | undefined;
}

export interface Circumstances {
  readonly wanted: number;
  /** The last primary, where a person has said that its data is gone for good. It may have had more than any other instance. */
  readonly givenUp: string | undefined;
}

/**
 * Of the instances that answer, the one that is furthest on the newest timeline. Undefined where Patroni can elect by itself: no instance
 * was given up, and all are on one timeline. Undefined, too, where one was given up and another, which might have more data, does not
 * answer.
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

// What the Pods of all our Jobs have in common: what they do can be done twice, so that none is waited for.
import type { Job } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";

type PodSpec = NonNullable<NonNullable<Job["spec"]>["template"]["spec"]>;

/** Evicted, preempted, its node drained or lost: no fault of what it does. */
export const disrupted = { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] };

/** What our programs end with when PostgreSQL refused something: trying again can't help. */
const refusedExitCode = 3;

export function refusedBy(containerName: string) {
  return { action: "FailJob", onExitCodes: { containerName, operator: "In", values: [refusedExitCode] } };
}

/** What is cut short is begun anew. */
export const gracePeriodSeconds = 5;

const lostNodes = ["not-ready", "unreachable"].map((state) => ({
  ...{ key: `node.kubernetes.io/${state}`, operator: "Exists", effect: "NoExecute" },
  tolerationSeconds: 30, // Kubernetes would wait for five minutes
}));

/** Those of the instances; a lost node is given up soon, also where the instances would wait for theirs for ever. */
export function jobTolerations({ spec: { tolerations = [] } }: SampleDB): NonNullable<PodSpec["tolerations"]> {
  return [...(tolerations as NonNullable<PodSpec["tolerations"]>), ...lostNodes];
}

// The skeleton of every Job: a Pod under the restricted Pod security standard, without a token, with the same failure policy everywhere.
import { labelNames } from "../../api/labels.ts";
import { controlledBy, type KubeObject } from "../../runtime/kube/object.ts";
import type { Job } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { kept, labelsOf } from "./identity.ts";
import { containerSecurity, podSecurity } from "./instances.ts";

type PodSpec = NonNullable<NonNullable<Job["spec"]>["template"]["spec"]>;
type Container = PodSpec["containers"][number];

export interface JobDescription {
  readonly name: string;
  /** Also the name of its container. */
  readonly component: string;
  readonly annotations: Record<string, string>;
  readonly podAnnotations?: Record<string, string>;
  readonly backoffLimit: number;
  /** The Job fails when it has not ended after this time. */
  readonly deadlineSeconds?: number;
  readonly placement: Partial<PodSpec>;
  /** Runs to its end before `container`, which may have other mounts. Its name is not the component's. */
  readonly initContainer?: Omit<Container, "securityContext">;
  readonly container: Omit<Container, "name" | "securityContext">;
  readonly volumes: NonNullable<PodSpec["volumes"]>;
}

/** A Pod that was evicted or preempted, or whose node was drained or lost, does not count as a failed try of the program. */
const disrupted = { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] };

/** The image's programs end with this code when PostgreSQL refused something: another try can't help. */
const refusedExitCode = 3;

/** Short: the image's programs can be killed at any moment, and go on where they were. */
const gracePeriodSeconds = 5;

/** The Job has the labels of the database, and goes with its owner. These two may differ: a Backup outlives its SampleDB. */
export function job(owner: KubeObject, database: Pick<SampleDB, "metadata">, description: JobDescription): Job {
  const { name, component, annotations, podAnnotations, initContainer } = description;
  const onExitCodes = { containerName: component, operator: "In", values: [refusedExitCode] };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...kept(database, name), ownerReferences: [controlledBy(owner)], annotations },
    spec: {
      backoffLimit: description.backoffLimit,
      ...(description.deadlineSeconds === undefined ? {} : { activeDeadlineSeconds: description.deadlineSeconds }),
      podFailurePolicy: { rules: [disrupted, { action: "FailJob", onExitCodes }] },
      template: {
        metadata: {
          labels: { ...labelsOf(database), [labelNames.component]: component },
          ...(podAnnotations ? { annotations: podAnnotations } : {}),
        },
        spec: {
          ...description.placement,
          ...podSecurity,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          restartPolicy: "Never",
          terminationGracePeriodSeconds: gracePeriodSeconds,
          ...(initContainer ? { initContainers: [{ ...initContainer, securityContext: containerSecurity }] } : {}),
          containers: [{ name: component, ...description.container, securityContext: containerSecurity }],
          volumes: description.volumes,
        },
      },
    },
  };
}

const lostNodes = ["not-ready", "unreachable"].map((state) => ({
  ...{ key: `node.kubernetes.io/${state}`, operator: "Exists", effect: "NoExecute" },
  tolerationSeconds: 30, // Kubernetes would wait for five minutes
}));

/** The instances' tolerations, and 30 s for a lost node, even where the instances tolerate one for ever. */
export function jobTolerations({ spec: { tolerations = [] } }: SampleDB): NonNullable<PodSpec["tolerations"]> {
  return [...(tolerations as NonNullable<PodSpec["tolerations"]>), ...lostNodes];
}

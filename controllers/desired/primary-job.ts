// A Job that connects to the primary as the superuser, by the read-write Service as applications do, and is tried again through a failover.
import { labelNames } from "../../api/labels.ts";
import type { Job } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { tlsDirectory } from "./configuration.ts";
import { passwordOf } from "./credentials.ts";
import { labelsOf, owned } from "./identity.ts";
import { containerSecurity, placement, podSecurity } from "./instances.ts";
import { disrupted, gracePeriodSeconds, jobTolerations, refusedBy } from "./job-pods.ts";
import { limitsLike } from "./limits.ts";
import { namesOf } from "./names.ts";
import { postgresPort } from "./services.ts";

type PodSpec = NonNullable<NonNullable<Job["spec"]>["template"]["spec"]>;
type Container = PodSpec["containers"][number];

export interface PrimaryJob {
  readonly name: string;
  /** Also the name of its container. */
  readonly component: string;
  readonly image: string;
  readonly args: string[];
  /** Of the Job and of its Pods. */
  readonly annotations: Record<string, string>;
  readonly env: NonNullable<Container["env"]>;
  readonly volumeMounts?: NonNullable<Container["volumeMounts"]>;
  readonly volumes?: NonNullable<PodSpec["volumes"]>;
}

/** Where its Pod may run. It is small, and belongs to no instance: what keeps those apart is not for it. */
export function jobPlacement(db: SampleDB): Pick<PodSpec, "nodeSelector" | "tolerations" | "imagePullSecrets"> {
  const { nodeSelector, imagePullSecrets } = placement(db);
  return {
    ...(nodeSelector ? { nodeSelector } : {}),
    ...(imagePullSecrets ? { imagePullSecrets } : {}),
    tolerations: jobTolerations(db),
  };
}

export function primaryJob(db: SampleDB, job: PrimaryJob): Job {
  const names = namesOf(db);
  const { annotations } = job;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...owned(db, job.name), annotations },
    spec: {
      backoffLimit: 20, // a failover in its middle is no fault of what it does
      podFailurePolicy: { rules: [disrupted, refusedBy(job.component)] },
      template: {
        metadata: { labels: { ...labelsOf(db), [labelNames.component]: job.component }, annotations },
        spec: {
          ...jobPlacement(db),
          ...podSecurity,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          restartPolicy: "Never",
          terminationGracePeriodSeconds: gracePeriodSeconds,
          containers: [
            {
              name: job.component,
              image: job.image,
              args: job.args,
              env: [
                { name: "PGHOST", value: `${names.readWriteService}.${db.metadata.namespace}.svc` },
                { name: "PGPORT", value: String(postgresPort) },
                { name: "PGSSLMODE", value: "verify-full" },
                { name: "PGSSLROOTCERT", value: `${tlsDirectory}/ca.crt` },
                { name: "SUPERUSER_PASSWORD", valueFrom: passwordOf(names.superuserSecret) },
                ...job.env,
              ],
              resources: { requests: { cpu: "10m", memory: "32Mi" }, ...limitsLike(db) },
              securityContext: containerSecurity,
              volumeMounts: [
                { name: "tls", mountPath: tlsDirectory, readOnly: true },
                { name: "tmp", mountPath: "/tmp" },
                ...(job.volumeMounts ?? []),
              ],
            },
          ],
          volumes: [
            {
              name: "tls",
              secret: { secretName: names.certificateSecret, defaultMode: 0o640, items: [{ key: "ca.crt", path: "ca.crt" }] },
            },
            { name: "tmp", emptyDir: {} },
            ...(job.volumes ?? []),
          ],
        },
      },
    },
  };
}

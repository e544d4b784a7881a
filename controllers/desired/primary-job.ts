// A Job that connects to the primary as the superuser, by the read-write Service. It has enough tries to outlast a failover.
import type { Job } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { tlsDirectory } from "./configuration.ts";
import { passwordOf } from "./credentials.ts";
import { placement } from "./instances.ts";
import { job, jobTolerations } from "./job.ts";
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
  /** Annotations of the Job and of its Pods. */
  readonly annotations: Record<string, string>;
  readonly env: NonNullable<Container["env"]>;
  readonly volumeMounts?: NonNullable<Container["volumeMounts"]>;
  readonly volumes?: NonNullable<PodSpec["volumes"]>;
}

/** Where its Pod may run. The Pod is no instance, so the rules that keep instances apart do not apply to it. */
export function jobPlacement(db: SampleDB): Pick<PodSpec, "nodeSelector" | "tolerations" | "imagePullSecrets"> {
  const { nodeSelector, imagePullSecrets } = placement(db);
  return {
    ...(nodeSelector ? { nodeSelector } : {}),
    ...(imagePullSecrets ? { imagePullSecrets } : {}),
    tolerations: jobTolerations(db),
  };
}

export function primaryJob(db: SampleDB, { name, component, annotations, ...more }: PrimaryJob): Job {
  const names = namesOf(db);
  return job(db, db, {
    ...{ name, component, annotations, podAnnotations: annotations },
    backoffLimit: 20, // a failover meanwhile is no fault of the program
    placement: jobPlacement(db),
    container: {
      image: more.image,
      args: more.args,
      env: [
        { name: "PGHOST", value: `${names.readWriteService}.${db.metadata.namespace}.svc` },
        { name: "PGPORT", value: String(postgresPort) },
        { name: "PGSSLMODE", value: "verify-full" },
        { name: "PGSSLROOTCERT", value: `${tlsDirectory}/ca.crt` },
        { name: "SUPERUSER_PASSWORD", valueFrom: passwordOf(names.superuserSecret) },
        ...more.env,
      ],
      resources: { requests: { cpu: "10m", memory: "32Mi" }, ...limitsLike(db) },
      volumeMounts: [
        { name: "tls", mountPath: tlsDirectory, readOnly: true },
        { name: "tmp", mountPath: "/tmp" },
        ...(more.volumeMounts ?? []),
      ],
    },
    volumes: [
      {
        name: "tls",
        secret: { secretName: names.certificateSecret, defaultMode: 0o640, items: [{ key: "ca.crt", path: "ca.crt" }] },
      },
      { name: "tmp", emptyDir: {} },
      ...(more.volumes ?? []),
    ],
  });
}

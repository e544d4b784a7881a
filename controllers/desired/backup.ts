// The Job of a Backup, and what its Pod reads: addresses from a ConfigMap, its certificate from a Secret (docs/designs/0007-backups.md).
import { taskAnnotation } from "../../api/annotations.ts";
import { controlledBy } from "../../runtime/kube/object.ts";
import type { ConfigMap, Job, Secret } from "../kinds/kubernetes.ts";
import type { Backup } from "../kinds/sampledb-io.ts";
import { tlsSecret } from "./certificates.ts";
import { dataDirectory, socketDirectory, tlsDirectory } from "./configuration.ts";
import { dataPort } from "./data-server.ts";
import { kept } from "./identity.ts";
import { job } from "./job.ts";
import { limitsLike } from "./limits.ts";
import { namesOf, podName } from "./names.ts";
import { jobPlacement } from "./primary-job.ts";
import { besideRepository } from "./repository.ts";
import { type Archived, configDirectory, hasVolume, pgBackRestFile, placeOf, storeMounts } from "./store.ts";

/** The component of the Job and its Pod. */
export const backupComponent = "backup";
/** Where the Job's Pod answers the operator. */
export const progressPort = 8434;
/** A run that takes longer has failed. The run's certificate lives no longer. */
export const longestRunSeconds = 24 * 3600;

/** What the Job does; the program `run-backup` reads it as `run.json`. */
export type Run = { readonly stanza: string; readonly uid: string; readonly operator: string } & (
  | {
      readonly task: "backup";
      readonly type: "full" | "diff" | "incr";
      readonly instances: readonly RunInstance[];
      /** The spec of the SampleDB, packed: it is stored with the backup. Undefined where it is too large for that. */
      readonly spec: string | undefined;
    }
  /** Its Pod was lost: whether the backup is whole all the same. */
  | { readonly task: "adopt" }
  | ({ readonly task: "expire" } & Expiry)
);

export interface Expiry {
  /** What is removed. Without it: what the run of this Backup has left, if anything. */
  readonly label?: string | undefined;
  /** The labels of those that build on it and go with it. Where another good one does, nothing is removed. */
  readonly dependents: readonly string[];
  /** Where instances archive to now. In another stanza nothing has to stay. */
  readonly currentStanza: string;
}

export interface RunInstance {
  readonly host: string;
  readonly primary: boolean;
}

/** By the name that is in the instances' certificate. */
export function hostOf(db: Archived, ordinal: number): string {
  return `${podName(db, ordinal)}.${namesOf(db).podsService}.${db.metadata.namespace}.svc`;
}

export const pgBackRestType = { Full: "full", Differential: "diff", Incremental: "incr" } as const;

/** `repository`: the text of the repository's own configuration, which ends with the stanza's section. */
export function backupConfig(backup: Backup, db: Archived, run: Run, repository: string): ConfigMap {
  const name = namesOf(db).backup;
  const instances = run.task === "backup" ? run.instances.flatMap(instanceSettings) : [];
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...kept(db, name), ownerReferences: [controlledBy(backup)] },
    data: {
      [pgBackRestFile]: `${[repository.trimEnd(), ...runSettings, ...instances].join("\n")}\n`,
      "run.json": `${JSON.stringify(run, undefined, 2)}\n`,
    },
  };
}

/**
 * One process: a backup takes CPU and disk from applications. `prefer`: from a replica where there is one. `archive-timeout`: how many seconds
 * a backup waits for its last segment. pgBackRest's own 60 s are too short for a repository's Pod that is restarted or moved meanwhile.
 */
const runSettings = ["process-max=1", "backup-standby=prefer", "start-fast=y", "archive-timeout=150", "repo1-bundle=y", "repo1-block=y"];

function instanceSettings({ host }: RunInstance, index: number): string[] {
  const pg = `pg${index + 1}`;
  return [
    `${pg}-host=${host}`,
    `${pg}-host-type=tls`,
    `${pg}-host-port=${dataPort}`,
    `${pg}-host-ca-file=${tlsDirectory}/ca.crt`,
    `${pg}-host-cert-file=${tlsDirectory}/tls.crt`,
    `${pg}-host-key-file=${tlsDirectory}/tls.key`,
    `${pg}-path=${dataDirectory}`,
    `${pg}-socket-path=${socketDirectory}`,
  ];
}

export function backupSecret(backup: Backup, db: Archived, served: Parameters<typeof tlsSecret>[2]): Secret {
  const secret = tlsSecret(db, namesOf(db).backup, served);
  return { ...secret, metadata: { ...secret.metadata, ownerReferences: [controlledBy(backup)] } };
}

/** `image`: the operator's own, never the user's: this Pod has the keys of the store. */
export function backupJob(backup: Backup, db: Archived, { task }: Pick<Run, "task">, image: string): Job {
  const name = namesOf(db).backup;
  const store = storeMounts(placeOf(db));
  return job(backup, db, {
    name,
    component: backupComponent,
    annotations: { [taskAnnotation]: task },
    backoffLimit: 0,
    deadlineSeconds: longestRunSeconds,
    placement: { ...jobPlacement(db), ...(hasVolume(db) ? besideRepository(db.metadata.name) : {}) },
    container: {
      image,
      command: ["run-backup"],
      ports: [{ name: "progress", containerPort: progressPort }],
      resources: { requests: { cpu: "50m", memory: "128Mi" }, ...limitsLike(db) },
      volumeMounts: [
        { name: "config", mountPath: configDirectory, readOnly: true },
        { name: "tls", mountPath: tlsDirectory, readOnly: true },
        ...store.volumeMounts,
      ],
    },
    volumes: [{ name: "config", configMap: { name } }, { name: "tls", secret: { secretName: name, defaultMode: 0o640 } }, ...store.volumes],
  });
}

// What secures the data of a database before it is deleted or overwritten: a last Backup, the Job that ends the sessions of clients, and the Job that looks whether the
// archive has everything that the stopped primary wrote (docs/designs/0011-snapshot-on-delete.md, 0012-restores-in-place.md).
import { archiveCheckAnnotation, cutOffAnnotation } from "../../api/annotations.ts";
import { labelNames } from "../../api/labels.ts";
import type { Job } from "../kinds/kubernetes.ts";
import type { Backup, SampleDB } from "../kinds/sampledb-io.ts";
import { dataDirectory, tlsDirectory } from "./configuration.ts";
import { kept, labelsOf } from "./identity.ts";
import { job } from "./job.ts";
import { limitsLike } from "./limits.ts";
import { claimName, finalBackupName, namesOf, podName, safetyBackupName } from "./names.ts";
import { jobPlacement, primaryJob } from "./primary-job.ts";

/** Without an owner, as every Backup. Incremental: pgBackRest makes a full one where there is none to build on. */
export function finalBackup(db: SampleDB): Backup {
  return backupOfAll(db, finalBackupName(db), { [labelNames.finalBackup]: "true" });
}

export function safetyBackup(db: SampleDB, restoreUid: string): Backup {
  return backupOfAll(db, safetyBackupName(db, restoreUid), {});
}

function backupOfAll(db: SampleDB, name: string, labels: Readonly<Record<string, string>>): Backup {
  return {
    apiVersion: db.apiVersion,
    kind: "Backup",
    metadata: { ...kept(db, name), labels: { ...labelsOf(db), ...labels } },
    spec: { sampleDBName: db.metadata.name, type: "Incremental", deletionPolicy: "Retain" },
  };
}

/** `inputs` names the primary: after a failover the sessions of another server have to end. */
export function cutOffJob(db: SampleDB, inputs: string, image: string): Job {
  return primaryJob(db, {
    ...{ name: namesOf(db).cutOff, component: "cutoff", image, args: ["cut-off-clients"] },
    annotations: { [cutOffAnnotation]: inputs },
    env: [],
  });
}

export interface CheckedArchive {
  /** The ordinal of the last primary, whose volume has all that was ever acknowledged. */
  readonly ordinal: number;
  /** The timeline of the last Backup: on another one, segments between the two may be missing. */
  readonly timeline: number;
  /** The last segment that the Backup itself needs. Later ones are given to the repository once more. */
  readonly lastWAL: string;
  readonly inputs: string;
}

/** It reads the volume, and writes nothing there. The repository answers well only for a segment that it has with the same content. */
export function archiveCheckJob(db: SampleDB, { ordinal, timeline, lastWAL, inputs }: CheckedArchive, image: string): Job {
  const { archiveCheck: name, certificateSecret, patroniConfig } = namesOf(db);
  const volume = dataDirectory.slice(0, dataDirectory.lastIndexOf("/"));
  return job(db, db, {
    ...{ name, component: "check", annotations: { [archiveCheckAnnotation]: inputs } },
    backoffLimit: 5,
    placement: jobPlacement(db),
    container: {
      image,
      command: ["tini", "--", "check-archive", String(timeline), lastWAL], // without the entrypoint, which prepares the volume for a server
      env: [
        { name: "HOSTNAME", value: podName(db, ordinal) }, // the repository's name is made from it, as in an instance
        { name: "PGDATA", value: dataDirectory },
        { name: "PGBIN", value: `/usr/lib/postgresql/${db.spec.postgresVersion}/bin` },
      ],
      resources: { requests: { cpu: "10m", memory: "32Mi" }, ...limitsLike(db) },
      volumeMounts: [
        { name: "data", mountPath: volume, readOnly: true },
        { name: "config", mountPath: "/etc/patroni", readOnly: true },
        { name: "tls", mountPath: tlsDirectory, readOnly: true },
        { name: "tmp", mountPath: "/tmp" },
      ],
    },
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName: claimName(db, ordinal) } },
      { name: "config", configMap: { name: patroniConfig } },
      { name: "tls", secret: { secretName: certificateSecret, defaultMode: 0o640 } },
      { name: "tmp", emptyDir: {} },
    ],
  });
}

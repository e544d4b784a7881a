// The Job of a Restore, and the objects with which a restored database looks like a retained one (docs/designs/0008-restores.md).
import {
  lastPrimaryAnnotation,
  majorAnnotation,
  restoredByAnnotation,
  restoreFoundAnnotation,
  taskAnnotation,
} from "../../api/annotations.ts";
import { controlledBy } from "../../runtime/kube/object.ts";
import type { ConfigMap, Job, PersistentVolumeClaim, Secret } from "../kinds/kubernetes.ts";
import type { Restore, SampleDB } from "../kinds/sampledb-io.ts";
import { progressPort } from "./backup.ts";
import { tlsSecret } from "./certificates.ts";
import { dataDirectory, tlsDirectory } from "./configuration.ts";
import { replicationUser, superuser } from "./credentials.ts";
import { instanceLabels, kept } from "./identity.ts";
import { claim } from "./instances.ts";
import { job } from "./job.ts";
import { limitsLike } from "./limits.ts";
import { claimName, namesOf, podName } from "./names.ts";
import { jobPlacement } from "./primary-job.ts";
import { besideRepository } from "./repository.ts";
import { configDirectory, type Mounts, type Place, pgBackRestFile, storeMounts, storeSettings } from "./store.ts";

type PodSpec = NonNullable<NonNullable<Job["spec"]>["template"]["spec"]>;
type Affinity = NonNullable<PodSpec["affinity"]>;

export const restoreComponent = "restore";
/** A run that takes longer has failed. */
export const longestRestoreSeconds = 48 * 3600;
/** The key in the ConfigMap, and so the name of the file, that says what is to be done. */
const runFile = "run.json";
export const lookTask = "look";
/** Listing a large archive takes minutes, and the Pod's start as well. */
const longestLookSeconds = 1200;
const passwordsDirectory = "/etc/sampledb/passwords";

/** What is restored from. */
export interface RestoreSource {
  readonly stanza: string;
  /** Null: the newest good backup that the target allows. */
  readonly label: string | null;
  readonly place: Place;
  /** The SampleDB beside whose repository's Pod the Job has to run: most volumes can be used on one node at a time. */
  readonly beside: string | undefined;
}

/** `uid` of the new database's metadata is the Restore's: there is no SampleDB yet. */
export function restoreConfig(restore: Restore, db: SampleDB, { stanza, label, place }: RestoreSource, operator: string): ConfigMap {
  const settings = Object.entries(storeSettings(place)).map(([name, value]) => `${name}=${value}`);
  const { databaseName, ownerName } = db.spec.bootstrap;
  const run = {
    stanza,
    label,
    target: targetOf(restore),
    uid: restore.metadata.uid,
    operator,
    roles: { superuser, replication: replicationUser, application: ownerName },
    database: databaseName,
    inPlace: restore.spec.destination.type === "InPlace",
  };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...kept(db, namesOf(db).restore), ownerReferences: [controlledBy(restore)] },
    data: {
      [pgBackRestFile]: ["[global]", ...settings, "", `[${stanza}]`, `pg1-path=${dataDirectory}`, ""].join("\n"),
      [runFile]: `${JSON.stringify(run, undefined, 2)}\n`,
    },
  };
}

function targetOf({ spec: { target } }: Restore) {
  const value = target.time ?? target.lsn ?? target.transactionID ?? target.restorePoint;
  return {
    type: target.type,
    ...(value === undefined ? {} : { value }),
    ...(target.timeline === undefined ? {} : { timeline: target.timeline }),
  };
}

export function restoreSecret(restore: Restore, db: SampleDB, served: Parameters<typeof tlsSecret>[2]): Secret {
  const secret = tlsSecret(db, namesOf(db).restore, served);
  return { ...secret, metadata: { ...secret.metadata, ownerReferences: [controlledBy(restore)] } };
}

/** It belongs to the Restore until the data is whole: no instance starts on it, and it goes with a Restore that is deleted. */
export function restoredClaim(restore: Restore, db: SampleDB, found: readonly string[]): PersistentVolumeClaim {
  const made = claim(db, 0);
  const annotations = { [restoredByAnnotation]: restore.metadata.uid ?? "", [restoreFoundAnnotation]: found.join() };
  return { ...made, metadata: { ...made.metadata, annotations, ownerReferences: [controlledBy(restore)] } };
}

/** Patroni's objects as a database of this identity has left them: no empty instance begins another one, and ordinal 0 starts alone. */
export function restoredState(restore: Restore, db: SampleDB, systemIdentifier: string): ConfigMap[] {
  const restoredBy = { [restoredByAnnotation]: restore.metadata.uid ?? "" };
  const state = (name: string, annotations: Record<string, string>): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...kept(db, name), labels: instanceLabels(db), annotations: { ...restoredBy, ...annotations } },
  });
  const { dynamicConfig, leader } = namesOf(db);
  return [
    state(dynamicConfig, { initialize: systemIdentifier, [majorAnnotation]: String(db.spec.postgresVersion) }),
    state(leader, { [lastPrimaryAnnotation]: podName(db, 0) }),
  ];
}

/** The new SampleDB. */
export function restoredDatabase(restoredBy: string, { apiVersion, kind, metadata: { namespace = "", name }, spec }: SampleDB): SampleDB {
  return { apiVersion, kind, metadata: { namespace, name, annotations: { [restoredByAnnotation]: restoredBy } }, spec };
}

/** The volume is made where the Job's Pod runs, and most volumes stay there. So the Job goes by what the instances ask of a node. */
function placementOf(db: SampleDB, beside: string | undefined) {
  const { nodeAffinity } = (db.spec.affinity ?? {}) as Affinity;
  const affinity = { ...(nodeAffinity ? { nodeAffinity } : {}), ...(beside === undefined ? {} : besideRepository(beside).affinity) };
  return { ...jobPlacement(db), ...(Object.keys(affinity).length > 0 ? { affinity } : {}) };
}

/** The Job that looks into a repository of which no object is left. It has no volume of the new database: nobody knows yet how large that is. */
export function lookJob(restore: Restore, db: SampleDB, { place, beside }: RestoreSource, image: string): Job {
  const store = storeMounts(place, { readOnly: true });
  return job(restore, db, {
    name: namesOf(db).restore,
    component: restoreComponent,
    annotations: { [taskAnnotation]: lookTask },
    backoffLimit: 0,
    deadlineSeconds: longestLookSeconds,
    placement: placementOf(db, beside),
    container: {
      image,
      command: ["look-into-repository"],
      resources: { requests: { cpu: "50m", memory: "64Mi" }, ...limitsLike(db) },
      volumeMounts: [{ name: "config", mountPath: configDirectory, readOnly: true }, ...store.volumeMounts],
    },
    volumes: [{ name: "config", configMap: { name: namesOf(db).restore } }, ...store.volumes],
  });
}

/**
 * Two containers, one after the other. The first has the store's keys, and executes nothing of the restored database. The second executes
 * statements in it, and with them whatever a superuser of the source has planted, so it has neither keys nor a volume that had them.
 * `image`: the operator's own, never the user's: this Pod has the keys of the store. `ordinal`: whose volume is filled.
 */
export function restoreJob(
  restore: Restore,
  db: SampleDB,
  { place, beside }: RestoreSource,
  { image, ordinal }: { readonly image: string; readonly ordinal: number },
): Job {
  const names = namesOf(db);
  const store = storeMounts(place, { readOnly: true });
  const passwords = passwordMounts(db);
  const both = [
    { name: "data", mountPath: dataDirectory.slice(0, dataDirectory.lastIndexOf("/")) },
    { name: "tls", mountPath: tlsDirectory, readOnly: true },
    { name: "shared-memory", mountPath: "/dev/shm" },
  ];
  const resources = { requests: { cpu: "100m", memory: "256Mi" }, ...limitsLike(db) };
  return job(restore, db, {
    name: names.restore,
    component: restoreComponent,
    annotations: { [taskAnnotation]: "restore" },
    backoffLimit: 0,
    deadlineSeconds: longestRestoreSeconds,
    placement: placementOf(db, beside),
    initContainer: {
      name: "recover",
      image,
      command: ["run-restore", "recover"],
      resources,
      volumeMounts: [...both, { name: "config", mountPath: configDirectory, readOnly: true }, ...store.volumeMounts],
    },
    container: {
      image,
      command: ["run-restore", "clean"],
      ports: [{ name: "progress", containerPort: progressPort }], // the first container answers there, too
      resources,
      volumeMounts: [
        ...both,
        { name: "run-file", mountPath: configDirectory, readOnly: true },
        { name: "clean-tmp", mountPath: "/tmp" },
        ...passwords.volumeMounts,
      ],
    },
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName: claimName(db, ordinal) } },
      { name: "config", configMap: { name: names.restore } },
      { name: "run-file", configMap: { name: names.restore, items: [{ key: runFile, path: runFile }] } },
      { name: "tls", secret: { secretName: names.restore, defaultMode: 0o640 } },
      { name: "shared-memory", emptyDir: { medium: "Memory" } },
      { name: "clean-tmp", emptyDir: {} },
      ...passwords.volumes,
      ...store.volumes,
    ],
  });
}

function passwordMounts(db: SampleDB): Mounts {
  const { superuserSecret, replicationSecret, applicationSecret } = namesOf(db);
  const passwords = Object.entries({ superuser: superuserSecret, replication: replicationSecret, application: applicationSecret });
  const items = [{ key: "password", path: "password" }];
  return {
    volumes: passwords.map(([role, secretName]) => ({ name: `password-${role}`, secret: { secretName, defaultMode: 0o640, items } })),
    volumeMounts: passwords.map(([role]) => ({ name: `password-${role}`, mountPath: `${passwordsDirectory}/${role}`, readOnly: true })),
  };
}

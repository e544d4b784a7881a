// The repository of a SampleDB: a Pod in front of a volume or a bucket, which alone has the keys. It takes the write-ahead log in
// (docs/designs/0006-archive.md).
import { archiveGenerationAnnotation, archiveOffAnnotation, stanzaAnnotation } from "../../api/annotations.ts";
import { labelNames } from "../../api/labels.ts";
import type { ConfigMap, Deployment, PersistentVolumeClaim, Service } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { type ArchiveNotes, noteAnnotationsOf, stanzaOf } from "./archive-notes.ts";
import { tlsDirectory } from "./configuration.ts";
import { kept, labelsOf, owned } from "./identity.ts";
import { containerSecurity, podSecurity } from "./instances.ts";
import { limitsLike } from "./limits.ts";
import { namesOf } from "./names.ts";
import { type Archived, configDirectory, pgBackRestFile, placeOf, storeMounts, storeSettings } from "./store.ts";

type PodSpec = NonNullable<NonNullable<Deployment["spec"]>["template"]["spec"]>;

export const repositoryPort = 8433;
const portName = "intake";

/** The component of the repository's Pod and claim: never taken for an instance's. */
export const repositoryComponent = "repository";

/** How long the Pod stays on a node that does not answer. Kubernetes' default is five minutes, in which no segment would arrive. */
const secondsOnLostNode = 30;

export function repositorySelector({ metadata: { name } }: Pick<SampleDB, "metadata">): Record<string, string> {
  return { [labelNames.database]: name, [labelNames.component]: repositoryComponent };
}

function repositoryLabels(db: Pick<SampleDB, "metadata">): Record<string, string> {
  return { ...labelsOf(db), ...repositorySelector(db) };
}

/** The names in the certificates of those who may call the repository. */
export interface RepositoryClients {
  readonly server: string;
  readonly operator: string;
}

/** Addresses, and no secret: the program adds the keys from the mounted files. It outlives the SampleDB, because the notes do. */
export function repositoryConfig(db: Archived, notes: ArchiveNotes, clients: RepositoryClients): ConfigMap {
  const stanza = stanzaOf(db, notes);
  const lines = Object.entries(storeSettings(placeOf(db))).map(([name, value]) => `${name}=${value}`);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      ...kept(db, namesOf(db).repository),
      labels: repositoryLabels(db),
      annotations: noteAnnotationsOf(db, notes),
    },
    data: {
      [pgBackRestFile]: ["[global]", ...lines, "", `[${stanza}]`, ""].join("\n"),
      "clients.json": `${JSON.stringify({ stanza, ...clients }, undefined, 2)}\n`,
    },
  };
}

/** After `spec.backup` was removed: the generation is remembered, because the next archive is another one. */
export function repositoryOff(db: SampleDB, generation: number): ConfigMap {
  const annotations = { [archiveGenerationAnnotation]: String(generation), [archiveOffAnnotation]: "true" };
  const metadata = { ...kept(db, namesOf(db).repository), labels: repositoryLabels(db), annotations };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

export function repositoryService(db: Archived): Service {
  const ports = [{ name: portName, port: repositoryPort, targetPort: portName, protocol: "TCP" }];
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: owned(db, namesOf(db).repository),
    spec: { type: "ClusterIP", selector: repositorySelector(db), ports },
  };
}

/** Without an owner: it outlives the SampleDB, because backups do. */
export function repositoryClaim(db: Archived): PersistentVolumeClaim {
  const { storageClassName } = db.spec.backup.repository?.volume ?? {};
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { ...kept(db, namesOf(db).repository), labels: repositoryLabels(db) },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Filesystem",
      resources: { requests: { storage: repositorySize(db) } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
}

/** Twice the data volume's where the user says nothing. */
export function repositorySize({ spec: { backup, storage } }: Archived): string {
  const asked = backup.repository?.volume?.size;
  if (asked !== undefined) return asked;
  return storage.size.replace(/^[\d.]+/, (number) => String(Number(number) * 2));
}

export interface RepositoryChoices {
  /** The operator's own image, never the user's: this Pod has the keys. */
  readonly image: string;
  readonly archive: ArchiveNotes;
  /** Whether there is anything to do for it. */
  readonly running: boolean;
}

/** A Deployment, not a StatefulSet, which never replaces the Pod of a lost node. `Recreate`, because two Pods can't share the volume. */
export function repositoryDeployment(db: Archived, { image, archive, running }: RepositoryChoices): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...owned(db, namesOf(db).repository), labels: repositoryLabels(db) },
    spec: {
      replicas: running ? 1 : 0,
      strategy: { type: "Recreate" },
      revisionHistoryLimit: 1,
      selector: { matchLabels: repositorySelector(db) },
      template: {
        // The kubelet brings a changed ConfigMap after a minute or two. A new Pod has it at once: no segment goes to the former stanza.
        metadata: { labels: repositoryLabels(db), annotations: { [stanzaAnnotation]: stanzaOf(db, archive) } },
        spec: repositoryPod(db, image),
      },
    },
  };
}

function repositoryPod(db: Archived, image: string): PodSpec {
  const { nodeSelector, tolerations, priorityClassName, imagePullSecrets } = db.spec;
  const store = storeMounts(placeOf(db));
  const name = namesOf(db).repository;
  const lost = ["not-ready", "unreachable"].map((state) => ({
    key: `node.kubernetes.io/${state}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: secondsOnLostNode,
  }));
  return {
    ...podSecurity,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 30,
    ...(nodeSelector ? { nodeSelector } : {}),
    tolerations: [...((tolerations ?? []) as NonNullable<PodSpec["tolerations"]>), ...lost],
    ...(priorityClassName ? { priorityClassName } : {}),
    ...(imagePullSecrets ? { imagePullSecrets } : {}),
    containers: [
      {
        name: repositoryComponent,
        image,
        command: ["serve-repository"],
        ports: [{ name: portName, containerPort: repositoryPort }],
        // By its port alone: whether the store answers is told in the status, and must not take the Pod out of its Service.
        readinessProbe: { tcpSocket: { port: portName }, periodSeconds: 2, timeoutSeconds: 3, failureThreshold: 2 },
        livenessProbe: { tcpSocket: { port: portName }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
        resources: { requests: { cpu: "50m", memory: "64Mi" }, ...limitsLike(db, { cpu: "500m", memory: "256Mi" }) },
        securityContext: containerSecurity,
        volumeMounts: [
          { name: "config", mountPath: configDirectory, readOnly: true },
          { name: "tls", mountPath: tlsDirectory, readOnly: true },
          ...store.volumeMounts,
        ],
      },
    ],
    volumes: [{ name: "config", configMap: { name } }, { name: "tls", secret: { secretName: name, defaultMode: 0o640 } }, ...store.volumes],
  };
}

/** For Pods that mount the repository's volume, too: most volumes can be used on one node at a time. */
export function besideRepository(database: string): Pick<PodSpec, "affinity"> {
  const labelSelector = { matchLabels: repositorySelector({ metadata: { name: database } }) };
  const required = [{ labelSelector, topologyKey: "kubernetes.io/hostname" }];
  return { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}

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

type Backup = NonNullable<SampleDB["spec"]["backup"]>;
type S3 = NonNullable<NonNullable<Backup["repository"]>["s3"]>;
type PodSpec = NonNullable<NonNullable<Deployment["spec"]>["template"]["spec"]>;

export const repositoryPort = 8433;
const portName = "intake";

/** The component of the repository's Pod and claim: never taken for an instance's. */
export const repositoryComponent = "repository";

const configDirectory = "/etc/sampledb/repository";
const volumeDirectory = "/var/lib/pgbackrest";
const storeDirectory = "/etc/sampledb/store";
const storeAuthorityDirectory = "/etc/sampledb/store-ca";
const encryptionDirectory = "/etc/sampledb/encryption";

/** How long the Pod stays on a node that does not answer. Kubernetes' default is five minutes, in which no segment would arrive. */
const secondsOnLostNode = 30;

/** A SampleDB that has a repository. */
export type Archived = SampleDB & { readonly spec: { readonly backup: Backup } };

export function isArchived(db: SampleDB): db is Archived {
  return db.spec.backup !== undefined;
}

/** The bucket; undefined where the repository is a volume. */
function bucketOf({ spec: { backup } }: Archived): S3 | undefined {
  return backup.repository?.s3;
}

export function hasVolume(db: Archived): boolean {
  return bucketOf(db) === undefined;
}

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
  const s3 = bucketOf(db);
  const settings: Readonly<Record<string, string>> = {
    ...(s3 ? bucketSettings(db, s3) : { "repo1-type": "posix", "repo1-path": volumeDirectory }),
    ...(db.spec.backup.encryptionSecretName === undefined ? {} : { "repo1-cipher-type": "aes-256-cbc" }),
    "compress-type": "zst",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      ...kept(db, namesOf(db).repository),
      labels: repositoryLabels(db),
      annotations: noteAnnotationsOf(db, notes),
    },
    data: {
      "pgbackrest.conf": ["[global]", ...lines, "", `[${stanza}]`, ""].join("\n"),
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

/** The folder has namespace and uid in it, so SampleDBs that share a bucket can't read, overwrite or expire each other's backups. */
function bucketSettings({ metadata: { namespace, uid } }: Archived, s3: S3): Record<string, string> {
  return {
    "repo1-type": "s3",
    "repo1-path": `/${[s3.prefix, namespace, uid].filter(Boolean).join("/")}`,
    "repo1-s3-endpoint": s3.endpoint,
    "repo1-s3-bucket": s3.bucket,
    "repo1-s3-region": s3.region,
    "repo1-s3-uri-style": s3.uriStyle.toLowerCase(),
    ...(s3.caSecretName === undefined ? {} : { "repo1-storage-ca-file": `${storeAuthorityDirectory}/ca.crt` }),
  };
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
  const { nodeSelector, tolerations, priorityClassName, imagePullSecrets, backup } = db.spec;
  const s3 = bucketOf(db);
  const name = namesOf(db).repository;
  const lost = ["not-ready", "unreachable"].map((state) => ({
    key: `node.kubernetes.io/${state}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: secondsOnLostNode,
  }));
  const secretVolumes = [
    ...(s3 ? [secretVolume("store", storeDirectory, s3.credentialsSecretName)] : []),
    ...(s3?.caSecretName === undefined ? [] : [secretVolume("store-ca", storeAuthorityDirectory, s3.caSecretName)]),
    ...(backup.encryptionSecretName === undefined ? [] : [secretVolume("encryption", encryptionDirectory, backup.encryptionSecretName)]),
  ];
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
          ...secretVolumes.map(({ mount }) => mount),
          ...(hasVolume(db) ? [{ name: "repository", mountPath: volumeDirectory }] : []),
          { name: "run", mountPath: "/run/pgbackrest" },
          { name: "tmp", mountPath: "/tmp" },
        ],
      },
    ],
    volumes: [
      { name: "config", configMap: { name } },
      { name: "tls", secret: { secretName: name, defaultMode: 0o640 } },
      ...secretVolumes.map(({ volume }) => volume),
      ...(hasVolume(db) ? [{ name: "repository", persistentVolumeClaim: { claimName: name } }] : []),
      { name: "run", emptyDir: { medium: "Memory" } }, // keys are written there
      { name: "tmp", emptyDir: {} },
    ],
  };
}

/** Optional: without the Secret the Pod starts all the same, and its status says what is missing. */
function secretVolume(name: string, mountPath: string, secretName: string) {
  return {
    volume: { name, secret: { secretName, optional: true, defaultMode: 0o640 } },
    mount: { name, mountPath, readOnly: true },
  };
}

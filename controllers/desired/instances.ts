// The instances: one StatefulSet of Patroni Pods, and a claim for each of them.
import { instanceAnnotations } from "../../api/annotations.ts";
import type { PersistentVolumeClaim, StatefulSet } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { dataDirectory, patroniFile, socketDirectory, tlsDirectory } from "./configuration.ts";
import { passwordOf } from "./credentials.ts";
import { type DataServer, dataServerContainer } from "./data-server.ts";
import { exporter } from "./exporter.ts";
import { instanceLabels, instanceSelector, kept, owned } from "./identity.ts";
import { claimName, namesOf } from "./names.ts";
import { patroniPort, postgresPort } from "./services.ts";

type ClaimTemplates = NonNullable<NonNullable<StatefulSet["spec"]>["volumeClaimTemplates"]>;
type PodTemplate = NonNullable<StatefulSet["spec"]>["template"];
type PodSpec = NonNullable<PodTemplate["spec"]>;

export const instanceContainer = "postgres";

/** The ordinals that the StatefulSet must have. */
export interface InstanceRange {
  readonly start: number;
  readonly count: number;
}

export interface InstanceChoices {
  readonly range: InstanceRange;
  readonly image: string;
  /** The container that backups read from; undefined without `spec.backup`. */
  readonly dataServer?: DataServer | undefined;
  /** The last value of the restart annotation. */
  readonly restart?: string | undefined;
  /** Those of the existing StatefulSet: Kubernetes lets nobody change them, and claims grow without them. */
  readonly claimTemplates?: ClaimTemplates | undefined;
  /** `askedDigest`: the digest of the user's words about the Pods. */
  readonly asked: string;
  /** `trialDigest`, of a change that a trial proved or that needed no trial. */
  readonly proven: string;
  /** `trialAskedDigest` of the same change. */
  readonly provenFor: string;
}

/** Long: a busy server writes all its dirty buffers when it stops. A kill instead means a recovery at the next start. */
const gracePeriodSeconds = 180;

export function statefulSet(db: SampleDB, choices: InstanceChoices): StatefulSet {
  const { range, claimTemplates } = choices;
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      ...owned(db, namesOf(db).statefulSet),
      labels: instanceLabels(db),
      annotations: { [instanceAnnotations.proven]: choices.proven, [instanceAnnotations.provenFor]: choices.provenFor },
    },
    spec: {
      replicas: range.count,
      ordinals: { start: range.start },
      serviceName: namesOf(db).podsService,
      podManagementPolicy: "Parallel", // Patroni decides which instance starts first
      updateStrategy: { type: "OnDelete" }, // the operator deletes the Pods: replicas first, and the primary only after a switchover
      revisionHistoryLimit: 2,
      selector: { matchLabels: instanceSelector(db) },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      template: podTemplate(db, choices),
      volumeClaimTemplates: claimTemplates ?? [claimTemplate(db)],
    },
  };
}

/** The operator makes it before its Pod: the StatefulSet's template has the size of the first day for ever. */
export function claim(db: SampleDB, ordinal: number): PersistentVolumeClaim {
  const metadata = { ...kept(db, claimName(db, ordinal)), labels: instanceLabels(db) };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: claimSpec(db) };
}

function claimTemplate(db: SampleDB): ClaimTemplates[number] {
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data", labels: instanceLabels(db) }, spec: claimSpec(db) };
}

function claimSpec({ spec: { storage } }: SampleDB) {
  return {
    accessModes: ["ReadWriteOnce"],
    volumeMode: "Filesystem",
    resources: { requests: { storage: storage.size } },
    ...(storage.storageClassName === undefined ? {} : { storageClassName: storage.storageClassName }),
  };
}

function podTemplate(db: SampleDB, { image, dataServer, restart, asked }: InstanceChoices): PodTemplate {
  const { podMetadata } = db.spec;
  return {
    metadata: {
      labels: { ...podMetadata?.labels, ...instanceLabels(db) },
      annotations: {
        ...podMetadata?.annotations,
        [instanceAnnotations.asked]: asked,
        ...(restart === undefined ? {} : { [instanceAnnotations.restart]: restart }),
        "kubectl.kubernetes.io/default-container": instanceContainer,
      },
    },
    spec: { ...placement(db), ...podSecurity, ...instancePod(db, image, dataServer) },
  };
}

/** The Pod's part of the restricted Pod security standard. */
export const podSecurity = {
  securityContext: {
    runAsNonRoot: true,
    fsGroup: 10001,
    fsGroupChangePolicy: "OnRootMismatch",
    seccompProfile: { type: "RuntimeDefault" },
  },
} satisfies Partial<PodSpec>;

export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** Where Pods of the database may run: the instances, and the trial's Pod. */
export function placement(db: SampleDB): Partial<PodSpec> {
  const { nodeSelector, affinity, tolerations, priorityClassName, imagePullSecrets } = db.spec;
  const constraints = db.spec.topologySpreadConstraints ?? [
    { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" as const },
  ];
  const matchLabels = instanceSelector(db);
  return {
    ...(nodeSelector ? { nodeSelector } : {}),
    ...(affinity ? { affinity: affinity as NonNullable<PodSpec["affinity"]> } : {}),
    ...(tolerations ? { tolerations: tolerations as NonNullable<PodSpec["tolerations"]> } : {}),
    ...(priorityClassName ? { priorityClassName } : {}),
    ...(imagePullSecrets ? { imagePullSecrets } : {}),
    topologySpreadConstraints: constraints.map((constraint) => ({
      ...(constraint as NonNullable<PodSpec["topologySpreadConstraints"]>[number]),
      ...(constraint.labelSelector ? {} : { labelSelector: { matchLabels } }),
    })),
  };
}

function instancePod(db: SampleDB, image: string, dataServer: DataServer | undefined): PodSpec {
  const { account, patroniConfig, superuserSecret, replicationSecret, certificateSecret } = namesOf(db);
  const field = (fieldPath: string) => ({ fieldRef: { fieldPath } });
  return {
    serviceAccountName: account,
    automountServiceAccountToken: true, // Patroni's store is the Kubernetes API
    enableServiceLinks: false,
    terminationGracePeriodSeconds: gracePeriodSeconds,
    containers: [
      {
        name: instanceContainer,
        image,
        args: ["patroni", `/etc/patroni/${patroniFile}`],
        env: [
          { name: "PATRONI_NAME", valueFrom: field("metadata.name") },
          { name: "PATRONI_KUBERNETES_NAMESPACE", valueFrom: field("metadata.namespace") },
          { name: "PATRONI_KUBERNETES_POD_IP", valueFrom: field("status.podIP") },
          { name: "PATRONI_POSTGRESQL_CONNECT_ADDRESS", value: `$(PATRONI_KUBERNETES_POD_IP):${postgresPort}` },
          { name: "PATRONI_RESTAPI_CONNECT_ADDRESS", value: `$(PATRONI_KUBERNETES_POD_IP):${patroniPort}` },
          { name: "PATRONI_SUPERUSER_PASSWORD", valueFrom: passwordOf(superuserSecret) },
          { name: "PATRONI_REPLICATION_PASSWORD", valueFrom: passwordOf(replicationSecret) },
        ],
        ports: [
          { name: "postgres", containerPort: postgresPort },
          { name: "patroni", containerPort: patroniPort },
        ],
        // Liveness asks for Patroni's loop, which turns while PostgreSQL recovers for hours.
        startupProbe: probe("/liveness", { periodSeconds: 2, failureThreshold: 60 }),
        livenessProbe: probe("/liveness", { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }),
        // Not /readiness, which is 200 for the lock's holder even while PostgreSQL is down. /health asks PostgreSQL by SQL.
        readinessProbe: probe("/health", { periodSeconds: 2, timeoutSeconds: 3, failureThreshold: 2 }),
        resources: (db.spec.resources ?? { requests: { cpu: "100m", memory: "256Mi" } }) as NonNullable<
          PodSpec["containers"][number]["resources"]
        >,
        securityContext: containerSecurity,
        volumeMounts: [
          { name: "data", mountPath: dataDirectory.slice(0, dataDirectory.lastIndexOf("/")) },
          { name: "config", mountPath: "/etc/patroni", readOnly: true },
          { name: "tls", mountPath: tlsDirectory, readOnly: true },
          { name: "sockets", mountPath: socketDirectory },
          { name: "tmp", mountPath: "/tmp" },
          { name: "shared-memory", mountPath: "/dev/shm" },
        ],
      },
      { ...exporter(db, image), securityContext: containerSecurity },
      ...(dataServer ? [{ ...dataServerContainer(db, dataServer), securityContext: containerSecurity }] : []),
    ],
    volumes: [
      { name: "config", configMap: { name: patroniConfig } },
      { name: "tls", secret: { secretName: certificateSecret, defaultMode: 0o640 } },
      { name: "sockets", emptyDir: { medium: "Memory" } },
      { name: "tmp", emptyDir: {} },
      ...(dataServer ? [{ name: "backup", emptyDir: {} }] : []),
      { name: "shared-memory", emptyDir: { medium: "Memory" } }, // the runtime's default of 64 MB is too little for parallel queries
    ],
  };
}

function probe(path: string, timing: { periodSeconds: number; failureThreshold: number; timeoutSeconds?: number }) {
  return { httpGet: { path, port: "patroni", scheme: "HTTPS" }, timeoutSeconds: 3, ...timing };
}

// The names of a SampleDB's objects. Each suffix is one word, so no object of one SampleDB has a name that another SampleDB needs.
import type { SampleDB } from "../kinds/sampledb-io.ts";

/** The most instances of a SampleDB. It is bounded because the Role names each Pod that Patroni may write to. */
export const mostInstances = 9;

export interface Names {
  readonly statefulSet: string;
  readonly readWriteService: string;
  readonly readOnlyService: string;
  readonly podsService: string;
  readonly account: string;
  readonly superuserSecret: string;
  readonly replicationSecret: string;
  readonly applicationSecret: string;
  readonly certificateSecret: string;
  readonly patroniConfig: string;
  /** Patroni's four objects: settings, leader lock, Patroni's order, synchronous replicas. */
  readonly dynamicConfig: string;
  readonly leader: string;
  readonly failover: string;
  readonly sync: string;
  readonly initJob: string;
  readonly trialJob: string;
  /** The Job, and the Secret from which the Job takes the new password. */
  readonly rotation: string;
  /** The Jobs of a deletion with `Snapshot`: one ends the sessions of clients, one looks whether the archive has everything. */
  readonly cutOff: string;
  readonly archiveCheck: string;
  readonly disruptionBudget: string;
  readonly podMonitor: string;
  /** The Job that backs up or removes a backup, with its ConfigMap and Secret. One name for each repository: it is the lock. */
  readonly backup: string;
  /** The Job that fills the first volume from a backup, with its ConfigMap and Secret. */
  readonly restore: string;
  /** Deployment, Service, ConfigMap, claim and Secret of the repository. */
  readonly repository: string;
}

export function namesOf({ metadata: { name } }: Pick<SampleDB, "metadata">): Names {
  return {
    statefulSet: name,
    readWriteService: `${name}-rw`,
    readOnlyService: `${name}-ro`,
    podsService: `${name}-pods`,
    account: `${name}-instance`,
    superuserSecret: `${name}-superuser`,
    replicationSecret: `${name}-replication`,
    applicationSecret: `${name}-app`,
    certificateSecret: `${name}-tls`,
    patroniConfig: `${name}-patroni`,
    dynamicConfig: `${name}-config`,
    leader: `${name}-leader`,
    failover: `${name}-failover`,
    sync: `${name}-sync`,
    initJob: `${name}-init`,
    trialJob: `${name}-trial`,
    rotation: `${name}-rotation`,
    cutOff: `${name}-cutoff`,
    archiveCheck: `${name}-check`,
    disruptionBudget: name,
    podMonitor: name,
    backup: `${name}-backup`,
    restore: `${name}-restore`,
    repository: `${name}-repository`,
  };
}

export function podName({ metadata: { name } }: Pick<SampleDB, "metadata">, ordinal: number): string {
  return `${name}-${ordinal}`;
}

/** The last Backup of a SampleDB that is being deleted. A later SampleDB of the name has another uid, and so another one. */
export function finalBackupName({ metadata: { name, uid = "" } }: Pick<SampleDB, "metadata">): string {
  return `${name}-final-${uid.slice(0, 8)}`;
}

/** The Backup of everything from before a restore in place. Each Restore has its own. */
export function safetyBackupName({ metadata: { name } }: Pick<SampleDB, "metadata">, restoreUid: string): string {
  return `${name}-before-${restoreUid.slice(0, 8)}`;
}

/** The name that the StatefulSet gives to the claim of its template `data`. */
export function claimName(db: Pick<SampleDB, "metadata">, ordinal: number): string {
  return `data-${podName(db, ordinal)}`;
}

/** The ordinal at the end of the name of a Pod or a claim; NaN where there is none. */
export function ordinalOf(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? Number.NaN);
}

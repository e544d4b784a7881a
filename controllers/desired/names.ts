// What the objects of a SampleDB are called. Each suffix is one word, so that no name of one SampleDB is a name of another's.
import type { SampleDB } from "../kinds/sampledb-io.ts";

/** A SampleDB has at most so many instances; what Patroni may write is told by name. */
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
  /** Patroni's own: its settings, the lock of the leader, the order to switch over, who is synchronous. */
  readonly dynamicConfig: string;
  readonly leader: string;
  readonly failover: string;
  readonly sync: string;
  readonly initJob: string;
  readonly trialJob: string;
  /** A Job, and the Secret that it takes the new password from. */
  readonly rotation: string;
  readonly disruptionBudget: string;
  readonly podMonitor: string;
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
    disruptionBudget: name,
    podMonitor: name,
  };
}

export function podName({ metadata: { name } }: Pick<SampleDB, "metadata">, ordinal: number): string {
  return `${name}-${ordinal}`;
}

/** As the StatefulSet calls the claim of its template `data`. */
export function claimName(db: Pick<SampleDB, "metadata">, ordinal: number): string {
  return `data-${podName(db, ordinal)}`;
}

/** The ordinal at the end of the name of a Pod or a claim. */
export function ordinalOf(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? Number.NaN);
}

// The status that an instance's Patroni reports, parsed defensively: a missing or invalid field is left out and affects no other.
import { z } from "zod";

export interface PatroniStatus {
  /** `running`, `starting`, `restarting`, `stopped`, `creating replica`, `start failed`, …; `unknown` if PostgreSQL does not answer. */
  readonly state: string;
  /** `primary`, `replica`, `standby_leader`; while PostgreSQL does not answer also `demoted`, `promoted` and `uninitialized`. */
  readonly role: string;
  readonly patroniVersion: string | undefined;
  /** In PostgreSQL's numbering: 150018. */
  readonly serverVersion: number | undefined;
  /** Changes when PostgreSQL is restarted. */
  readonly postmasterStartTime: string | undefined;
  readonly systemIdentifier: string | undefined;
  readonly timeline: number | undefined;
  readonly restartPending: boolean;
  /** The settings that wait for the restart. */
  readonly pendingChanges: readonly PendingChange[];
  readonly wal: PrimaryWal | ReplicaWal | undefined;
  /** For a replica: `streaming`, or `in archive recovery`. */
  readonly replicationState: string | undefined;
  /** The replicas of this instance. */
  readonly replication: readonly ReplicationConnection[];
  readonly isSynchronous: boolean;
  /** A person has paused the cluster: Patroni neither fails over nor starts PostgreSQL. */
  readonly paused: boolean;
  readonly hasNoLeader: boolean;
}

export interface PendingChange {
  readonly parameter: string;
  readonly oldValue: string;
  /** `?` when the value is set in a place that Patroni does not manage. */
  readonly newValue: string;
}

/** Positions are bytes since the beginning of the write-ahead log; as numbers they would be rounded. */
export interface PrimaryWal {
  readonly location: bigint;
}

export interface ReplicaWal {
  readonly received: bigint | undefined;
  readonly replayed: bigint | undefined;
  readonly replayedTime: string | undefined;
  readonly replayPaused: boolean;
}

export interface ReplicationConnection {
  readonly name: string;
  readonly address: string | undefined;
  readonly state: string | undefined;
  /** `sync`, `async`, `quorum`, `potential`. */
  readonly synchrony: string | undefined;
}

const text = z.string().optional().catch(undefined);
const whole = z.int().nonnegative().optional().catch(undefined);
const yes = z.boolean().optional().catch(undefined);
const position = z.bigint().optional().catch(undefined);
const change = z.object({ old_value: z.string().catch("?"), new_value: z.string().catch("?") });
const connection = z.object({ application_name: z.string(), client_addr: text, state: text, sync_state: text });
const xlog = z.object({
  location: position,
  received_location: position,
  replayed_location: position,
  replayed_timestamp: text,
  paused: yes,
});

const answer = z.object({
  state: z.string(),
  role: z.string(),
  patroni: z.object({ version: text }).optional().catch(undefined),
  server_version: whole,
  postmaster_start_time: text,
  database_system_identifier: text,
  timeline: whole,
  pending_restart: yes,
  pending_restart_reason: z.record(z.string(), change).catch({}).default({}),
  xlog: xlog.optional().catch(undefined),
  replication_state: text,
  replication: z.array(connection).catch([]).default([]),
  sync_standby: yes,
  quorum_standby: yes,
  pause: yes,
  cluster_unlocked: yes,
});

/** Undefined when the text is no status. */
export function parseStatus(json: string): PatroniStatus | undefined {
  const parsed = answer.safeParse(parseJson(json));
  if (!parsed.success) return undefined;
  const { data } = parsed;
  return {
    state: data.state,
    role: data.role,
    patroniVersion: data.patroni?.version,
    serverVersion: data.server_version,
    postmasterStartTime: data.postmaster_start_time,
    systemIdentifier: data.database_system_identifier,
    timeline: data.timeline,
    restartPending: data.pending_restart ?? false,
    pendingChanges: Object.entries(data.pending_restart_reason).map(([parameter, { old_value: oldValue, new_value: newValue }]) => ({
      parameter,
      oldValue,
      newValue,
    })),
    wal: walOf(data.xlog),
    replicationState: data.replication_state,
    replication: data.replication.map(({ application_name: name, client_addr: address, state, sync_state: synchrony }) => ({
      name,
      address,
      state,
      synchrony,
    })),
    isSynchronous: data.sync_standby === true || data.quorum_standby === true,
    paused: data.pause ?? false,
    hasNoLeader: data.cluster_unlocked ?? false,
  };
}

function walOf(xlog: z.infer<typeof answer>["xlog"]): PrimaryWal | ReplicaWal | undefined {
  if (xlog === undefined) return undefined;
  if (xlog.location !== undefined) return { location: xlog.location };
  return {
    received: xlog.received_location,
    replayed: xlog.replayed_location,
    replayedTime: xlog.replayed_timestamp,
    replayPaused: xlog.paused ?? false,
  };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json, exactPositions);
  } catch {
    return undefined;
  }
}

/** A position has 64 bits, and a JavaScript number 53. */
function exactPositions(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return name.endsWith("location") && Number.isInteger(value) ? BigInt(context?.source ?? String(value)) : value;
}

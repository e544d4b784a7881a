// What an instance's Patroni says of it, read with care: what is missing or odd is left out, and takes nothing else along.
import { z } from "zod";

export interface PatroniStatus {
  /** `running`, `starting`, `restarting`, `stopped`, `creating replica`, `start failed`, …; `unknown` when PostgreSQL runs and can't be asked. */
  readonly state: string;
  /** `primary`, `replica`, `standby_leader`; while PostgreSQL can't be asked also `demoted`, `promoted` and `uninitialized`. */
  readonly role: string;
  readonly patroniVersion: string | undefined;
  /** As PostgreSQL counts: 150018. */
  readonly serverVersion: number | undefined;
  /** Another one means that PostgreSQL was restarted. */
  readonly postmasterStartTime: string | undefined;
  readonly systemIdentifier: string | undefined;
  readonly timeline: number | undefined;
  readonly restartPending: boolean;
  /** What the restart is for. */
  readonly pendingChanges: readonly PendingChange[];
  readonly wal: PrimaryWal | ReplicaWal | undefined;
  /** Of a replica: `streaming`, or `in archive recovery`. */
  readonly replicationState: string | undefined;
  /** Those who follow this one. */
  readonly replication: readonly ReplicationConnection[];
  readonly isSynchronous: boolean;
  /** Nobody fails over or starts PostgreSQL: a person has paused the cluster. */
  readonly paused: boolean;
  readonly hasNoLeader: boolean;
}

export interface PendingChange {
  readonly parameter: string;
  readonly oldValue: string;
  /** `?` when it is set in a place that Patroni does not look after. */
  readonly newValue: string;
}

/** Positions are bytes since the beginning of all WAL; as numbers they would be rounded. */
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

/** Undefined when it is no status. */
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

/** A position has 64 bits, and a number of JavaScript 53. */
function exactPositions(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return name.endsWith("location") && Number.isInteger(value) ? BigInt(context?.source ?? String(value)) : value;
}

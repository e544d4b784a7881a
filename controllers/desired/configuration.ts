// Patroni's configuration: what an instance must know to start, and what all of them share and may change while they serve.
import { majorAnnotation, settingsSinceAnnotation } from "../../api/annotations.ts";
import { labelNames } from "../../api/labels.ts";
import { parseQuantity } from "../../kubernetes/quantity.ts";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { monitoringUser, replicationUser, superuser } from "./credentials.ts";
import { instanceComponent, instanceLabels, kept, owned } from "./identity.ts";
import { namesOf } from "./names.ts";
import { patroniPort, postgresPort } from "./services.ts";

export const tlsDirectory = "/etc/sampledb/tls";
export const socketDirectory = "/run/postgresql";
export const dataDirectory = "/var/lib/postgresql/data";
const certificate = { ca: `${tlsDirectory}/ca.crt`, certificate: `${tlsDirectory}/tls.crt`, key: `${tlsDirectory}/tls.key` };
const callback = "/usr/local/bin/take-writes";

/** Where it is in the ConfigMap, and so in the Pod. */
export const patroniFile = "patroni.yaml";

/** JSON is YAML, and quotes what has to be quoted. */
export function patroniConfig(db: SampleDB): ConfigMap {
  const data = { [patroniFile]: `${JSON.stringify(localSettings(db), undefined, 2)}\n` };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: owned(db, namesOf(db).patroniConfig), data };
}

function localSettings(db: SampleDB) {
  // Instances call each other by address, and a certificate can't know those: the authority is checked, and it has only this database.
  const tls = { sslmode: "verify-ca", sslrootcert: certificate.ca };
  return {
    scope: db.metadata.name,
    kubernetes: {
      labels: { [labelNames.component]: instanceComponent },
      scope_label: labelNames.database,
      role_label: labelNames.role,
      leader_label_value: "primary",
      follower_label_value: "replica",
      standby_leader_label_value: "primary",
    },
    restapi: {
      listen: `*:${patroniPort}`,
      cafile: certificate.ca,
      certfile: certificate.certificate,
      keyfile: certificate.key,
      verify_client: "optional", // the kubelet asks without a certificate; whoever wants to change something has one
    },
    // With a certificate of its own, `insecure` leaves out the name only: the authority is checked all the same.
    ctl: { insecure: true, cacert: certificate.ca, certfile: certificate.certificate, keyfile: certificate.key },
    bootstrap: { initdb: ["data-checksums", { encoding: "UTF8" }, { locale: "C.UTF-8" }] },
    postgresql: {
      listen: `*:${postgresPort}`,
      data_dir: dataDirectory,
      bin_dir: `/usr/lib/postgresql/${db.spec.postgresVersion}/bin`,
      pgpass: "/tmp/pgpass",
      use_unix_socket: true,
      authentication: {
        superuser: { username: superuser, ...tls },
        replication: { username: replicationUser, ...tls },
      },
      // A new copy does not wait minutes for the next checkpoint: until it is there, one copy fewer is.
      basebackup: [{ checkpoint: "fast" }],
      callbacks: { on_start: callback, on_restart: callback, on_role_change: callback },
    },
  };
}

interface SettingsStage {
  /** When these settings were written first. */
  readonly since: string;
  /** The database is made. */
  readonly initialized: boolean;
  /** What else stands beside them. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** Patroni's own object of settings; Patroni keeps more in it. Its names are the DCS keys of Patroni. */
export function dynamicConfig(db: SampleDB, { since, initialized, notes }: SettingsStage): ConfigMap {
  const config = dynamicSettings(db, initialized);
  const major = String(db.spec.postgresVersion);
  return patroniState(db, namesOf(db).dynamicConfig, { config, [settingsSinceAnnotation]: since, [majorAnnotation]: major, ...notes });
}

/** The others, empty: Patroni fills them in, and may not make them. */
export function patroniStates(db: SampleDB): ConfigMap[] {
  const { leader, failover, sync } = namesOf(db);
  return [leader, failover, sync].map((name) => patroniState(db, name));
}

function patroniState(db: SampleDB, name: string, annotations?: Record<string, string>): ConfigMap {
  const metadata = { ...kept(db, name), labels: instanceLabels(db), ...(annotations ? { annotations } : {}) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

/** As text: two are the same settings when they are the same text. */
export function dynamicSettings(db: Pick<SampleDB, "spec">, initialized: boolean): string {
  const synchronous = db.spec.synchronousReplication;
  // While Patroni makes a database it gives PostgreSQL a wrong value for a quorum, "ANY None (*)": for ten seconds, with clients already
  // there, no commit waits for anybody.
  const mode = initialized ? "quorum" : "on";
  return JSON.stringify({
    // The shortest that Patroni allows: loop_wait + 2 × retry_timeout must fit into ttl.
    ttl: 20,
    loop_wait: 5,
    retry_timeout: 5,
    primary_start_timeout: secondsToRecover(db.spec),
    failsafe_mode: true, // with all members up the primary serves on while the API server is away
    // Quorum: a commit waits for any so many replicas, and each of them can take over. In Patroni's older mode only the one replica that
    // is synchronous at the moment can, and a switchover to another stops the primary for nothing (seen).
    synchronous_mode: synchronous === "Disabled" ? "off" : mode,
    // From the first second on: what is written before is lost with its primary.
    synchronous_mode_strict: synchronous === "Required",
    // With the primary itself a majority. Were it one of eight, all eight would be needed to be sure that one of them has everything:
    // a primary that is lost together with any replica on its node would have no successor.
    synchronous_node_count: Math.max(1, Math.floor(db.spec.replicas / 2)),
    postgresql: {
      use_pg_rewind: true,
      use_slots: true,
      // A replica that has left the primary's history is made anew by itself.
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
      parameters: parameters(db),
      pg_hba: hostBasedAuthentication(db),
      // The exporter is a process of the same user as the server. Not `trust`: who else gets at the socket one day is not let in by it.
      pg_ident: [`${monitoringUser} ${superuser} ${monitoringUser}`],
    },
  });
}

/**
 * How long a primary that has crashed may take to recover before a replica leads. Where a replica has every acknowledged commit, none: a
 * recovery reads all log since the last checkpoint, which takes minutes, and a promotion a second. Elsewhere Patroni's own default.
 */
function secondsToRecover({ synchronousReplication, replicas }: SampleDB["spec"]): number {
  return synchronousReplication === "Disabled" || replicas === 1 ? 300 : 0;
}

/** What is not the user's comes last, whatever a webhook that was off has let through. */
export function parameters({ spec }: Pick<SampleDB, "spec">): Record<string, string | number> {
  return {
    shared_buffers: sharedBuffers(spec.resources),
    max_connections: 100,
    max_wal_senders: 20, // a replica that is copied takes two, and eight may be at once
    max_replication_slots: 10,
    // After a primary was killed and is back, commits wait until a replica has found it again: by default it looks every 5 s.
    wal_retrieve_retry_interval: "1s",
    ...spec.postgresql?.parameters,
    wal_level: "replica",
    hot_standby: "on",
    // While nothing is archived: a server that archives ends with a whole segment of log, and hands over only when the replicas have
    // got all of it, a third of a second later (seen).
    archive_mode: "off",
    archive_command: "",
    password_encryption: "scram-sha-256",
    unix_socket_directories: socketDirectory,
    logging_collector: "off",
    ssl: "on",
    ssl_ca_file: certificate.ca,
    ssl_cert_file: certificate.certificate,
    ssl_key_file: certificate.key,
    ssl_min_protocol_version: "TLSv1.2",
  };
}

const mebibyte = 1n << 20n;
const nano = 1_000_000_000n;

/** A quarter of the memory, as PostgreSQL's manual has it; PostgreSQL's own default where nothing is told. */
function sharedBuffers(resources: SampleDB["spec"]["resources"]): string {
  const memory = memoryOf(resources);
  const bytes = memory === undefined ? undefined : parseQuantity(memory);
  if (bytes === undefined) return "128MB";
  const quarter = bytes / nano / 4n / mebibyte;
  return `${quarter < 16n ? 16n : quarter}MB`;
}

/** What an instance may take, as the user has said it. */
export function memoryOf(resources: SampleDB["spec"]["resources"]) {
  return resources?.limits?.["memory"] ?? resources?.requests?.["memory"];
}

/** Ours first: nobody can lock the operator, Patroni and the replicas out. The user's own take the place of the open last line. */
export function hostBasedAuthentication({ spec }: Pick<SampleDB, "spec">): string[] {
  return [
    `local all ${superuser} peer`,
    `local all ${monitoringUser} peer map=${monitoringUser}`,
    `hostssl replication ${replicationUser} all scram-sha-256`,
    `hostssl all ${superuser} all scram-sha-256`,
    `host replication ${replicationUser} all reject`,
    `host all ${superuser} all reject`,
    `host all ${monitoringUser} all reject`,
    ...(spec.postgresql?.hba ?? ["host all all all scram-sha-256"]),
  ];
}

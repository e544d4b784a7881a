// Patroni's configuration: the file that an instance starts with, and the settings that all instances share and may change at any time.
import { majorAnnotation, settingsSinceAnnotation } from "../../api/annotations.ts";
import { labelNames } from "../../api/labels.ts";
import { parseQuantity } from "../../kubernetes/quantity.ts";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import type { LetGo } from "./archive-notes.ts";
import { monitoringUser, replicationUser, superuser } from "./credentials.ts";
import { instanceComponent, instanceLabels, kept, owned } from "./identity.ts";
import { namesOf } from "./names.ts";
import { patroniPort, postgresPort } from "./services.ts";

export const tlsDirectory = "/etc/sampledb/tls";
export const socketDirectory = "/run/postgresql";
export const dataDirectory = "/var/lib/postgresql/data";
const certificate = { ca: `${tlsDirectory}/ca.crt`, certificate: `${tlsDirectory}/tls.crt`, key: `${tlsDirectory}/tls.key` };
const callback = "/usr/local/bin/take-writes";

/** The key in the ConfigMap, and so the name of the file in the Pod. */
export const patroniFile = "patroni.yaml";

/** The same for what is let go: the image's program pgbackrest-push reads it. */
export const letGoFile = "archive-let-go";

/** Patroni's file, written as JSON, which is YAML: no value can break out of its quotes. And which segments the instances let go. */
export function patroniConfig(db: SampleDB, letGo?: LetGo): ConfigMap {
  const data = {
    [patroniFile]: `${JSON.stringify(localSettings(db), undefined, 2)}\n`,
    ...(letGo ? { [letGoFile]: `${letGo.systemIdentifier} ${letGo.last}\n` } : {}),
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: owned(db, namesOf(db).patroniConfig), data };
}

function localSettings(db: SampleDB) {
  // Instances call each other by address, which no certificate can name. Checking the authority is enough: it signs for this database only.
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
      verify_client: "optional", // the kubelet's probes have no certificate; Patroni demands one for changes
    },
    // With `cacert` set, `insecure` turns off the check of the name only. The authority is still checked.
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
      // Otherwise a new copy waits minutes for the next checkpoint, and there is one replica fewer meanwhile.
      basebackup: [{ checkpoint: "fast" }],
      callbacks: { on_start: callback, on_restart: callback, on_role_change: callback },
    },
  };
}

interface SettingsStage {
  /** When these settings were first written. */
  readonly since: string;
  /** An instance has made the data. */
  readonly initialized: boolean;
  /** More annotations of the ConfigMap (held-settings.ts). */
  readonly notes?: Readonly<Record<string, string>>;
}

/** NAME-config, which Patroni reads its settings from. Patroni writes more annotations there, which an apply leaves alone. */
export function dynamicConfig(db: SampleDB, { since, initialized, notes }: SettingsStage): ConfigMap {
  const config = dynamicSettings(db, initialized);
  const major = String(db.spec.postgresVersion);
  return patroniState(db, namesOf(db).dynamicConfig, { config, [settingsSinceAnnotation]: since, [majorAnnotation]: major, ...notes });
}

/** Patroni's other objects, empty: Patroni fills them in, and has no right to make them. */
export function patroniStates(db: SampleDB): ConfigMap[] {
  const { leader, failover, sync } = namesOf(db);
  return [leader, failover, sync].map((name) => patroniState(db, name));
}

function patroniState(db: SampleDB, name: string, annotations?: Record<string, string>): ConfigMap {
  const metadata = { ...kept(db, name), labels: instanceLabels(db), ...(annotations ? { annotations } : {}) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

/** Patroni's settings as JSON. Equal texts are equal settings. */
export function dynamicSettings(db: Pick<SampleDB, "spec">, initialized: boolean): string {
  const synchronous = db.spec.synchronousReplication;
  // While Patroni makes the data, it gives PostgreSQL a wrong value for a quorum, "ANY None (*)". Then no commit waits for a replica for
  // ten seconds, and clients are already connected.
  const mode = initialized ? "quorum" : "on";
  return JSON.stringify({
    // The shortest that Patroni allows: loop_wait + 2 × retry_timeout must fit into ttl.
    ttl: 20,
    loop_wait: 5,
    retry_timeout: 5,
    primary_start_timeout: secondsToRecover(db.spec),
    failsafe_mode: true, // while the API server is away, the primary serves on if it reaches all members
    // Quorum: a commit waits for a number of replicas, whichever they are, and each of them can take over. In Patroni's older mode only
    // the replica that is synchronous at the moment can, and a switchover to another one stops the primary for nothing (seen).
    synchronous_mode: synchronous === "Disabled" ? "off" : mode,
    // From the first second on: a commit from before would be lost with its primary.
    synchronous_mode_strict: synchronous === "Required",
    // Together with the primary, a majority. If commits waited for one replica of eight, Patroni would need all eight to be sure that one
    // of them has every commit: a primary that is lost together with a replica on its node would have no successor.
    synchronous_node_count: Math.max(1, Math.floor(db.spec.replicas / 2)),
    postgresql: {
      use_pg_rewind: true,
      use_slots: true,
      // Patroni copies a replica anew whose history has parted from the primary's.
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
      parameters: parameters(db),
      // Standbys ask the repository for the histories of others, so that no two timelines get one number. An older image lacks the
      // program: PostgreSQL would end at a code above 125, as that of a shell that does not find it.
      ...(db.spec.backup ? { recovery_conf: { restore_command: "command -v fetch-history >/dev/null && fetch-history %f %p" } } : {}),
      pg_hba: hostBasedAuthentication(db),
      // The exporter runs as the same user as the server. Not `trust`, which would let in any other process that reaches the socket.
      pg_ident: [`${monitoringUser} ${superuser} ${monitoringUser}`],
    },
  });
}

/**
 * How many seconds a crashed primary may take to recover before a replica leads. Where a replica has every acknowledged commit, 0: a
 * recovery reads all log since the last checkpoint, which takes minutes, and a promotion takes a second. Elsewhere Patroni's default.
 */
function secondsToRecover({ synchronousReplication, replicas }: SampleDB["spec"]): number {
  return synchronousReplication === "Disabled" || replicas === 1 ? 300 : 0;
}

/** The operator's own settings come last, so a user's value never replaces them, even if the webhook was off. */
export function parameters({ spec }: Pick<SampleDB, "spec">): Record<string, string | number> {
  return {
    shared_buffers: sharedBuffers(spec.resources),
    max_connections: 100,
    max_wal_senders: 20, // the copy of a replica takes two, and eight replicas may be copied at once
    max_replication_slots: 10,
    // A commit reaches the repository a minute after it was made, also while little is written. Without writes, no segment is closed.
    ...(spec.backup ? { archive_timeout: "60s" } : {}),
    // After a primary was killed and is back, commits wait until a replica connects again. By default a replica tries every 5 s.
    wal_retrieve_retry_interval: "1s",
    ...spec.postgresql?.parameters,
    wal_level: "replica",
    hot_standby: "on",
    ...archiving(spec),
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

/**
 * Off without a repository: a server that archives writes a whole segment of log at its end, and hands over only when the replicas have
 * received all of it, a third of a second later (seen).
 */
function archiving({ backup }: SampleDB["spec"]): Record<string, string> {
  if (!backup) return { archive_mode: "off", archive_command: "" };
  return { archive_mode: "on", archive_command: "pgbackrest-push %p" };
}

const mebibyte = 1n << 20n;
const nano = 1_000_000_000n;

/** A quarter of the memory, as PostgreSQL's manual advises; PostgreSQL's default where the spec has no memory. */
function sharedBuffers(resources: SampleDB["spec"]["resources"]): string {
  const memory = memoryOf(resources);
  const bytes = memory === undefined ? undefined : parseQuantity(memory);
  if (bytes === undefined) return "128MB";
  const quarter = bytes / nano / 4n / mebibyte;
  return `${quarter < 16n ? 16n : quarter}MB`;
}

/** The memory of an instance, as the user wrote it. */
export function memoryOf(resources: SampleDB["spec"]["resources"]) {
  return resources?.limits?.["memory"] ?? resources?.requests?.["memory"];
}

/** The operator's lines come first: no user can lock Patroni and the replicas out. The user's lines replace the open last line. */
export function hostBasedAuthentication({ spec }: Pick<SampleDB, "spec">): string[] {
  return [...ownLines, ...(spec.postgresql?.hba ?? ["host all all all scram-sha-256"])];
}

const ownLines = [
  `local all ${superuser} peer`,
  `local all ${monitoringUser} peer map=${monitoringUser}`,
  `hostssl replication ${replicationUser} all scram-sha-256`,
  `hostssl all ${superuser} all scram-sha-256`,
  `host replication ${replicationUser} all reject`,
  `host all ${superuser} all reject`,
  `host all ${monitoringUser} all reject`,
];

/** For a database that ends: applications get no connection any more. The program cut-off-clients looks for the last line. */
export const closedAuthentication: readonly string[] = [...ownLines, "host all all all reject"];

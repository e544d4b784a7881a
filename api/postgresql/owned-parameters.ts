// Settings of postgresql.conf that users can't set, each with the reason that the refusal gives.

const network = "the Services lead to where the operator lets it listen";
const files = "the operator decides where files lie in the Pod";
const archive = "the operator archives the write-ahead log; see spec.backup";
const recovery = "the operator and Patroni decide what an instance recovers from; make a Restore to go back in time";
const replication = "Patroni manages replication by it";
const tls = "the operator makes the certificates and sets TLS up";
const logs = "logs go to the Pod's output, where the cluster collects them";
const safety = "without it a crash loses or corrupts data";
const transaction = "it belongs to a single transaction; there is a default_ setting of the same name";

const reasons: Readonly<Record<string, readonly string[]>> = {
  [network]: [
    ...["listen_addresses", "port", "unix_socket_directories", "unix_socket_group", "unix_socket_permissions"],
    ...["bonjour", "bonjour_name"],
  ],
  [files]: ["data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"],
  [archive]: ["archive_mode", "archive_command", "archive_library", "archive_cleanup_command", "wal_level"],
  [recovery]: [
    ...["restore_command", "recovery_end_command", "recovery_min_apply_delay", "promote_trigger_file"],
    ...["recovery_target", "recovery_target_action", "recovery_target_inclusive", "recovery_target_lsn", "recovery_target_name"],
    ...["recovery_target_time", "recovery_target_timeline", "recovery_target_xid"],
  ],
  [replication]: ["primary_conninfo", "primary_slot_name", "hot_standby", "wal_log_hints", "cluster_name"],
  "set spec.synchronousReplication in place of it": ["synchronous_standby_names"],
  [tls]: [
    ...["ssl", "ssl_ca_file", "ssl_cert_file", "ssl_key_file", "ssl_crl_file", "ssl_crl_dir", "ssl_dh_params_file"],
    ...["ssl_ciphers", "ssl_ecdh_curve", "ssl_prefer_server_ciphers", "ssl_min_protocol_version", "ssl_max_protocol_version"],
    ...["ssl_passphrase_command", "ssl_passphrase_command_supports_reload"],
  ],
  [logs]: [
    ...["logging_collector", "log_destination", "log_directory", "log_filename", "log_file_mode"],
    ...["log_rotation_age", "log_rotation_size", "log_truncate_on_rotation"],
    ...["syslog_facility", "syslog_ident", "syslog_sequence_numbers", "syslog_split_messages", "event_source"],
  ],
  [safety]: ["fsync", "full_page_writes"],
  [transaction]: ["transaction_isolation", "transaction_read_only", "transaction_deferrable"],
};

/** The reason why a setting is refused, by its name. */
export const ownedParameters: ReadonlyMap<string, string> = new Map(
  Object.entries(reasons).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);

/** Lowest values of settings that users can set. Patroni silently ignores lower ones, or replicas would find no slot. */
export const lowestValues: ReadonlyMap<string, number> = new Map([
  ["max_connections", 25],
  ["max_locks_per_transaction", 32],
  ["max_replication_slots", 10], // nine instances and a spare one
  ["max_wal_senders", 10], // eight replicas, and a new replica takes two while it is copied
  ["max_worker_processes", 2],
  ["wal_keep_size", 16], // in MB, its unit
]);

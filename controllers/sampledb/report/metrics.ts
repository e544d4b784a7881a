// The metrics of each SampleDB, labelled with its namespace and name. All but one are read at the scrape from the cache and from the
// memory of inspections. A SampleDB that is gone has no metrics.
import { conditionTypes } from "../../../api/conditions.ts";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { BoundedMap } from "../../../runtime/bounded-map.ts";
import type { Cache } from "../../../runtime/cache/cache.ts";
import type { Metrics } from "../../../runtime/observability/metrics.ts";
import type { Family } from "../../../runtime/observability/observed-metrics.ts";
import { isReady, logPosition } from "../../database/instance.ts";
import { instancePods } from "../../database/view.ts";
import { identityOf } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import { configMaps, type Pod } from "../../kinds/kubernetes.ts";
import { type SampleDB, sampledbs } from "../../kinds/sampledb-io.ts";
import { LeaderLock } from "../../patroni/state.ts";
import type { RecoveryWindow } from "../../repository/answers.ts";
import type { Report } from "../../repository/background-questions.ts";
import type { ArchiveReports, Reports } from "../../repository/reports.ts";
import { conditionOf } from "../../telling/events.ts";
import type { Inspections } from "../instances/inspections.ts";

/** What the process knows of a SampleDB at a scrape. */
export interface Known {
  readonly db: SampleDB;
  /** The Pods of its instances, without those that are being deleted. */
  readonly pods: readonly Pod[];
  /** The leader lock. */
  readonly lock: LeaderLock | undefined;
  /** When the certificates expire that the instances serve, as far as instances were inspected. */
  readonly certificatesExpire: readonly Date[];
  /** The last answers about the archive; undefined without `spec.backup`. */
  readonly archive: ArchiveReports | undefined;
}

export const families: readonly Family<Known>[] = [
  gauge("sampledb_replicas_wanted", "Instances that are to run; 0 while it is hibernated or being deleted", replicasWanted),
  gauge("sampledb_replicas_ready", "Instances that answer SQL", ({ pods }) => pods.filter(isReady).length),
  gauge("sampledb_ready", "Whether the condition Ready is True", ({ db }) => holds(db.status, conditionTypes.ready)),
  gauge("sampledb_primary_available", "Whether an instance takes writes and the read-write Service leads to it", ({ db }) =>
    holds(db.status, conditionTypes.primaryAvailable),
  ),
  {
    type: "counter",
    name: "sampledb_primary_changes_total",
    help: "How often the primary's part has changed hands, or was taken up again after a stop",
    read: primaryChanges,
  },
  gauge("sampledb_replication_lag_bytes", "Write-ahead log that the replica furthest behind has not received", replicationLag),
  gauge("sampledb_certificate_expiry_timestamp_seconds", "When the first of the certificates ends that the instances serve", (known) =>
    known.certificatesExpire.length === 0 ? undefined : Math.min(...known.certificatesExpire.map((date) => date.getTime())) / 1000,
  ),
  gauge(
    "sampledb_archiving_healthy",
    "Whether the condition ArchivingHealthy is True",
    ({ db, archive }) => archive && holds(db.status, conditionTypes.archivingHealthy),
  ),
  gauge(
    "sampledb_archive_segments_waiting",
    "Segments of write-ahead log on the primary that are not in the repository",
    ({ archive }) => fresh(archive?.primary)?.waiting,
  ),
  gauge(
    "sampledb_archive_lag_seconds",
    "Age of the oldest segment that is not in the repository; 0 when none waits",
    ({ archive }) => fresh(archive?.primary)?.oldestSeconds,
  ),
  gauge("sampledb_archive_last_timestamp_seconds", "When a segment reached the repository last", ({ archive }) => {
    const last = archive?.repository?.answer?.archive?.last;
    return last && Date.parse(last.at) / 1000;
  }),
  gauge("sampledb_first_recoverable_timestamp_seconds", "From when on every moment can be restored", ({ db, archive }) => {
    const first = archive && db.status?.firstRecoverableTime;
    return first === undefined ? undefined : Date.parse(first) / 1000;
  }),
  gauge("sampledb_last_recoverable_timestamp_seconds", "Up to when every moment can be restored", ({ archive }) => {
    const last = archive?.repository?.answer?.window?.last;
    return last && Date.parse(last.at) / 1000;
  }),
  gauge(
    "sampledb_archive_gaps",
    "Stretches of segments that are missing in the archive since the oldest good backup",
    ({ archive }) => listed(archive)?.gapCount,
  ),
  gauge("sampledb_archive_complete", "Whether the newest moment in the archive can be restored", ({ archive }) => {
    const window = listed(archive);
    return window && Number(window.complete);
  }),
  gauge("sampledb_repository_probe_success", "Whether a file could be written to the repository, read and deleted", ({ archive }) => {
    const ok = fresh(archive?.repository)?.probe?.ok;
    return archive && (ok ? 1 : 0);
  }),
  gauge(
    "sampledb_repository_size_bytes",
    "Size of the repository's file system",
    ({ archive }) => fresh(archive?.repository)?.space?.sizeBytes,
  ),
  gauge(
    "sampledb_repository_available_bytes",
    "Room that is left on the repository's file system",
    ({ archive }) => fresh(archive?.repository)?.space?.availableBytes,
  ),
];

/** The answer of who still answers: an old figure would look like a good one. */
function fresh<Answer>(report: Report<Answer> | undefined): Answer | undefined {
  return report?.silence === undefined ? report?.answer : undefined;
}

/** What the repository has found in its archive; undefined before its first look. */
function listed(archive: ArchiveReports | undefined): RecoveryWindow | undefined {
  const window = fresh(archive?.repository)?.window;
  return window?.at === undefined ? undefined : window;
}

function gauge(name: string, help: string, read: Family<Known>["read"]): Family<Known> {
  return { type: "gauge", name, help, read };
}

function replicasWanted({ db: { metadata, spec } }: Known): number {
  return metadata.deletionTimestamp !== undefined || spec.powerState === "Hibernated" ? 0 : spec.replicas;
}

function holds(status: SampleDBStatus | undefined, wanted: string): 0 | 1 {
  return conditionOf(status, wanted)?.status === "True" ? 1 : 0;
}

/** Patroni stores this count with the leader lock, so it survives a restart of the operator and a change of the operator's leader. */
function primaryChanges({ lock }: Known): number | undefined {
  return lock?.transitions;
}

/** Each instance reports its position every few seconds, at a moment of its own. So a replica can seem to be ahead, which counts as 0. */
function replicationLag({ pods, lock }: Known): number | undefined {
  const primary = pods.find(({ metadata }) => metadata.name === lock?.holder);
  const end = primary && logPosition(primary);
  const reached = pods.filter((pod) => pod !== primary).flatMap((pod) => logPosition(pod) ?? []);
  return end === undefined || reached.length === 0 ? undefined : Math.max(0, end - Math.min(...reached));
}

export interface MetricsInputs {
  readonly cache: Cache;
  readonly inspections: Inspections;
  readonly reports: Reports;
  /**
   * False in a replica of the operator that waits for the lease. It would report the same from its own cache, so each sum over SampleDBs
   * would be twice as large. And it has inspected no instance.
   */
  readonly leads: () => boolean;
}

export function reportDatabases(metrics: Pick<Metrics, "observe">, { cache, inspections, reports, leads }: MetricsInputs): void {
  metrics.observe<Known>({
    labelNames: ["namespace", "name"],
    labels: ({ db }) => ({ namespace: db.metadata.namespace ?? "", name: db.metadata.name }),
    families,
    things: () => (leads() ? cache.watched(sampledbs).list() : []).map((db) => known(db, { cache, inspections, reports })),
  });
}

function known(db: SampleDB, { cache, inspections, reports }: Omit<MetricsInputs, "leads">): Known {
  const instances = instancePods(db, cache);
  const lock = cache.watched(configMaps).get({ namespace: db.metadata.namespace ?? "", name: namesOf(db).leader });
  return {
    db,
    pods: instances.filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    lock: lock && new LeaderLock(lock),
    certificatesExpire: instances.flatMap(({ metadata }) => inspections.of(metadata.uid ?? "")?.expires ?? []),
    archive: db.spec.backup && reports.of(identityOf(db)),
  };
}

/** A minute is usual; a user's scripts may take much longer. */
const readyBuckets = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800];

/** Seconds from the creation of a SampleDB to its first Ready. No object stores that moment, so each reconcile passes its status here. */
export class TimeToReady {
  readonly #took: (seconds: number) => void;
  readonly #now: () => Date;
  /** SampleDBs that were never Ready, by uid. False where one was paused, hibernated or deleted meanwhile: its time says nothing. */
  readonly #beginning = new BoundedMap<boolean>(10_000);

  constructor(metrics: Pick<Metrics, "duration">, now: () => Date) {
    this.#took = metrics.duration(
      "sampledb_time_to_ready_seconds",
      "From the creation of a SampleDB until it was Ready first",
      readyBuckets,
    );
    this.#now = now;
  }

  /** `now` is the next status, which `db` does not have yet. */
  told({ metadata, spec, status: before }: SampleDB, now: SampleDBStatus): void {
    const { uid = "", creationTimestamp, deletionTimestamp } = metadata;
    const free = !spec.paused && spec.powerState === "Running" && deletionTimestamp === undefined;
    const begun = this.#beginning.get(uid);
    if (holds(now, conditionTypes.ready)) {
      if (begun && creationTimestamp) this.#took((this.#now().getTime() - Date.parse(creationTimestamp)) / 1000);
      this.#beginning.delete(uid);
    } else if (begun !== undefined || !holds(before, conditionTypes.initialized)) {
      this.#beginning.set(uid, free && begun !== false);
    }
  }
}

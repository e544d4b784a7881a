// The operator's process, put together from its settings.

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeConfig } from "@kubernetes/client-node";
import { appliedAnnotation } from "../api/annotations.ts";
import { reportingController } from "../api/labels.ts";
import { backupController } from "../controllers/backup/controller.ts";
import { Authority } from "../controllers/database/authority.ts";
import type { Instance } from "../controllers/database/instance.ts";
import { Passwords } from "../controllers/database/passwords.ts";
import { identityOf } from "../controllers/desired/identity.ts";
import type { SampleDB } from "../controllers/kinds/sampledb-io.ts";
import { Patience } from "../controllers/patience.ts";
import { type Dial, dialFor } from "../controllers/patroni/dial.ts";
import { PatroniApi } from "../controllers/patroni/patroni-api.ts";
import { CachedPermits } from "../controllers/permits/cached-permits.ts";
import { BackgroundQuestions } from "../controllers/repository/background-questions.ts";
import { archiveQuestions } from "../controllers/repository/questions.ts";
import { Reports } from "../controllers/repository/reports.ts";
import { progressQuestion, type RunProgress } from "../controllers/repository/run-progress.ts";
import { restoreController } from "../controllers/restore/controller.ts";
import { KnownChoices } from "../controllers/sampledb/change/choices.ts";
import { sampleDBController } from "../controllers/sampledb/controller.ts";
import { Monitors } from "../controllers/sampledb/foundation/monitors.ts";
import { Volumes } from "../controllers/sampledb/foundation/volumes.ts";
import { Inspections } from "../controllers/sampledb/instances/inspections.ts";
import { reportBackups } from "../controllers/sampledb/report/backup-metrics.ts";
import { reportDatabases, TimeToReady } from "../controllers/sampledb/report/metrics.ts";
import { declareWatches } from "../controllers/watches.ts";
import { aborted } from "../runtime/aborted.ts";
import { Elector } from "../runtime/election/elector.ts";
import { KubeClient } from "../runtime/kube/client.ts";
import { Credentials as KubeCredentials } from "../runtime/kube/credentials.ts";
import { Transport } from "../runtime/kube/transport.ts";
import { Manager } from "../runtime/manager.ts";
import { type Checks, startHealthServer } from "../runtime/observability/health-server.ts";
import type { Log } from "../runtime/observability/log.ts";
import { loopLagCheck } from "../runtime/observability/loop-lag.ts";
import { createMetrics, type Metrics } from "../runtime/observability/metrics.ts";
import { startMetricsServer } from "../runtime/observability/metrics-server.ts";
import type { Settings } from "./flags.ts";
import { metricsSecurity } from "./metrics-security.ts";
import { ownNamespace } from "./namespace.ts";
import { installPolicies } from "./policies.ts";
import { startWebhooks, type Webhooks } from "./webhooks.ts";

export interface Process {
  readonly settings: Settings;
  readonly loadKubeConfig: () => KubeConfig;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly log: Log;
  /** Ends everything, in order. */
  readonly signal: AbortSignal;
}

/** A watch that has been silent for so long has missed its bookmarks and its own end. */
const longestSilenceSeconds = 300;

/** What such an operator has no rights for; docs/installing.md says what to do about each. */
const limitsOfSomeNamespaces =
  "looking after some namespaces alone, without rights on the cluster: no webhooks without --webhook-cert-dir, no metrics for others, no reclaim policies of volumes; CRDs and policies are an administrator's to install";

/** Until every API server knows that this replica is going, some still ask it. */
const lingerMilliseconds = 5000;

/** Runs until it is told to end; rejects when it can't start, or must not go on. */
export async function runOperator(process: Process): Promise<void> {
  const { settings, loadKubeConfig, environment, version, log, signal } = process;
  const namespace = ownNamespace(loadKubeConfig(), environment);
  const metrics = createMetrics();
  const connection = { listener: metrics.requests, onWarning: warnOnce(log), userAgent: `sampledb-operator/${version}` };
  await using stops = new AsyncDisposableStack(); // what started last ends first, also when something after it can't start
  const connect = (): KubeClient => {
    const transport = new Transport(new KubeCredentials(loadKubeConfig), connection);
    stops.defer(() => transport.close());
    return new KubeClient(transport, { fieldManager: "sampledb-operator" });
  };
  const stopped = stoppedWith(stops);
  const client = connect();

  const kubernetes = await kubernetesVersion(client, signal);
  if (signal.aborted) return;
  log.info({ version, kubernetes }, "connected to the API server");
  if (settings.namespaces.length > 0) log.info({ namespace: settings.namespaces.join(",") }, limitsOfSomeNamespaces);
  const security = await metricsSecurity(settings, client);
  if (settings.installPolicies) await installPolicies({ client, namespaces: settings.namespaces, log });
  // Renewals have connections of their own: behind the controllers' calls they would be late when it matters.
  const elector = settings.leaderElect ? electorFor(settings, namespace, connect(), metrics, log) : undefined;
  const manager = new Manager({
    client,
    namespaces: settings.namespaces,
    elector,
    fieldManager: "sampledb",
    hashAnnotation: appliedAnnotation,
    reportingController,
    reportingInstance: environment["POD_NAME"] ?? hostname(),
    metrics,
    log,
  });
  const options = { maxConcurrentReconciles: settings.maxConcurrentReconciles };
  const now = () => new Date();
  const { cache, events } = manager;
  const authority = new Authority({ operatorNamespace: namespace, now });
  const passwords = new Passwords({ now, password: () => randomBytes(24).toString("base64url") });
  const dial = dialFor(settings.databaseAccess, loadKubeConfig);
  const patroni = patroniWith(authority, dial);
  const inspections = new Inspections();
  const reports = new Reports(now);
  const patience = new Patience(now);
  const database = {
    cache,
    events,
    authority,
    passwords,
    operatorNamespace: namespace,
    patroni,
    inspections,
    patience,
    timeToReady: new TimeToReady(metrics, now),
    monitors: new Monitors({ labels: settings.podMonitorLabels, now }),
    volumes: new Volumes(now),
    choices: new KnownChoices(settings.postgresImages),
    reports,
    archiveQuestions: archiveQuestions(authority, dial),
    now,
  };
  declareWatches(cache);
  manager.add(sampleDBController(database, options));
  const leads = elector?.mayWrite ?? (() => true);
  reportDatabases(metrics, { cache, inspections, reports, leads });
  reportBackups(metrics, { cache, leads });
  const backup = {
    ...{ cache, events, authority, patience, now, images: settings.postgresImages },
    permits: new CachedPermits(cache, settings.runLimits, now),
    progress: new BackgroundQuestions<RunProgress>(now),
    progressQuestion: progressQuestion(authority, dial),
  };
  manager.add(backupController(backup, options));
  manager.add(restoreController({ ...backup, passwords }, options));

  let webhooks: Webhooks | undefined;
  const checks = { healthz: alive(), readyz: ready(manager, () => webhooks, signal) };
  stopped(await startMetricsServer({ address: settings.metricsAddress, metrics, log, security }));
  stopped(await startHealthServer({ address: settings.healthAddress, log, ...checks }));
  webhooks = stopped(await startWebhooks({ settings, namespace, client, cache: manager.cache, metrics, log }));
  if (webhooks) {
    const lingered = aborted(signal).then(() => {
      webhooks?.retire();
      return sleep(lingerMilliseconds);
    });
    stops.defer(async () => {
      if (signal.aborted) await lingered;
    });
  }
  await manager.run(signal);
}

function stoppedWith(stops: AsyncDisposableStack) {
  return <T extends { stop(): Promise<void> }>(server: T | undefined): T | undefined => {
    if (server) stops.defer(() => server.stop());
    return server;
  };
}

async function kubernetesVersion(client: KubeClient, signal: AbortSignal): Promise<string> {
  try {
    return (await client.raw<{ gitVersion: string }>("GET", "/version", undefined, { deadline: 10_000, signal })).gitVersion;
  } catch (error) {
    if (signal.aborted) return ""; // told to end before it had begun
    throw error;
  }
}

/** The API server warns with each answer anew, of a version that will go for one. */
function warnOnce(log: Log): (request: unknown, text: string) => void {
  const told = new Set<string>();
  return (_, text) => {
    if (told.has(text) || told.size >= 100) return;
    told.add(text);
    log.warn({ reason: text }, "the API server warns");
  };
}

function electorFor(settings: Settings, namespace: string, client: KubeClient, metrics: Metrics, log: Log): Elector {
  const lease = { namespace: settings.leaderElectionNamespace ?? namespace, name: settings.leaderElectionId };
  const status = metrics.leader(lease.name);
  return new Elector({
    client,
    lease,
    listener: {
      leading: (leads) => {
        status(leads);
        if (leads) log.info({ lease: lease.name }, "leading");
      },
      following: (holder) => log.info({ lease: lease.name, holder }, "another replica leads"),
      failed: (error) => log.warn({ lease: lease.name, error }, "the lease could not be read or renewed; it is tried again"),
    },
  });
}

function alive(): Checks {
  return new Map([["event-loop", loopLagCheck({ limitSeconds: 5 })]]);
}

function ready({ cache }: Manager, webhooks: () => Webhooks | undefined, signal: AbortSignal): Checks {
  return new Map([
    ["shutdown", () => (signal.aborted ? "the process is ending" : undefined)],
    ["caches", () => problems("not read yet", cache.unsynced())],
    [
      "watches",
      () =>
        problems(
          "silent",
          cache.watches().flatMap(({ resource, silentSeconds }) => (silentSeconds > longestSilenceSeconds ? resource : [])),
        ),
    ],
    ["webhooks", () => webhooks()?.problem],
  ]);
}

function problems(what: string, names: readonly string[]): string | undefined {
  return names.length > 0 ? `${what}: ${names.join(", ")}` : undefined;
}

/** Calls to instances, with the operator's certificate from the database's authority. */
function patroniWith(authority: Authority, dial: Dial): (db: SampleDB, instance: Instance) => Promise<PatroniApi> {
  return async (db, { podName: name, address: ip }) => {
    const identity = await authority.certificateFor(identityOf(db), "operator");
    if (!identity || ip === undefined) throw new Error(`${name} can't be called yet: it has no address or no certificate`);
    const pod = { namespace: db.metadata.namespace ?? "", name, ip };
    return new PatroniApi({ pod, dial, identity, authorities: identity.authorities });
  };
}

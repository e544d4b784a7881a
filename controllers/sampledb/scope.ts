// The scope of a reconcile: everything that its steps may read and use, gathered once, and the findings that they leave.
import type { SnapshotPhase } from "../../api/deletion-policy.ts";
import type { SampleDBStatus } from "../../api/sampledb-status.ts";
import type { Cache } from "../../runtime/cache/cache.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import type { Step } from "../../runtime/controller/steps.ts";
import type { Authority, Serving } from "../database/authority.ts";
import type { Instance } from "../database/instance.ts";
import type { Passwords } from "../database/passwords.ts";
import type { DatabaseView } from "../database/view.ts";
import type { JobContext } from "../jobs/runner.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import type { Patience } from "../patience.ts";
import type { PatroniApi } from "../patroni/patroni-api.ts";
import type { ArchiveQuestions } from "../repository/questions.ts";
import type { Reports } from "../repository/reports.ts";
import type { Blocker } from "../telling/blockers.ts";
import type { DescribedEvents } from "../telling/described-events.ts";
import type { ArchiveHealth } from "./archive/health.ts";
import type { Choices, KnownChoices } from "./change/choices.ts";
import type { Monitors } from "./foundation/monitors.ts";
import type { Volumes } from "./foundation/volumes.ts";
import type { Inspections } from "./instances/inspections.ts";
import type { TimeToReady } from "./report/metrics.ts";

export interface Dependencies {
  readonly cache: Cache;
  readonly events: DescribedEvents;
  readonly authority: Authority;
  readonly passwords: Passwords;
  /** Events about a namespace that is being deleted go here. */
  readonly operatorNamespace: string;
  readonly inspections: Inspections;
  readonly patience: Patience;
  readonly volumes: Volumes;
  readonly timeToReady: TimeToReady;
  readonly monitors: Monitors;
  readonly patroni: (db: SampleDB, instance: Instance) => Promise<PatroniApi>;
  readonly choices: KnownChoices;
  readonly reports: Reports;
  readonly archiveQuestions: ArchiveQuestions;
  readonly now: () => Date;
}

/**
 * A part of the database that Pods or Roles use by its name. Kubernetes takes any object of that name, also a stranger's: a stranger's
 * ServiceAccount would lend its token to our Pods, and our Role would give rights on a stranger's ConfigMap.
 */
export type Part = "volumes" | "credentials" | "account" | "configuration" | "slice";

/** Values that the steps of one reconcile leave for later steps and for the status. The default of each is the safe side. */
export interface Findings {
  /** Any step adds to them. */
  readonly blockers: Blocker[];
  /**
   * The parts that are known to be this database's own. Set by storage, credentials, account, services and configuration. Empty at first.
   */
  readonly confirmed: Set<Part>;
  /** Set by trial and postponedTrial. Unproven at first, so that a step that throws lets no change through. */
  trial: Trial;
  /** Set by initialization. At first as in the stored status. */
  initialization: Initialization;
  /** What the rollout does or waits for. Set by configuration and rollout. Undefined when there is nothing to roll out. */
  rollout: string | undefined;
  /** New settings were written, and instances may not have read them yet. Set by configuration. */
  settling: boolean;
  /** The certificate that the instances are to serve. Set by credentials. */
  serving: Serving | undefined;
  /** The application's next password is stored, and a rotation must finish. Set by credentials. */
  passwordWaits: boolean;
  /** A step of this reconcile wrote an order of Patroni. Set by switchover and stalemate, so that no second step writes one. */
  switchoverOrdered: boolean;
  /** Whether the write-ahead log reaches the repository. Set by archiving. Undefined without `spec.backup`. */
  archive: ArchiveHealth | undefined;
  /** The schedules of backups. Set by schedules. Undefined where it has not run or has failed: the stored ones stay. */
  schedules: SampleDBStatus["schedules"];
  /** How the deletion with `Snapshot` stands. Set by the deletion. */
  deletion: { readonly phase: SnapshotPhase; readonly backupName: string } | undefined;
  /** How a restore in place stands. Set by restoring. Undefined where it has not run: what is stored stays while a Restore has the SampleDB. */
  restore: Omit<NonNullable<SampleDBStatus["restore"]>, "sinceTime"> | undefined;
  /** The volumes from before a restore in place. Set by restoring and formerVolumes. Undefined: the stored ones stay. */
  formerVolumes: readonly string[] | undefined;
  /** Why the spec can't be acted on. Set when the scope is opened. */
  readonly invalid: string | undefined;
  /** Why the major that is asked for is not the one that runs. Set when the scope is opened. */
  readonly upgrade: string | undefined;
}

/**
 * Whether the instances may get the change that is on trial. `asked`: the user made it. Otherwise a newer operator did, and Ready does not
 * wait for it.
 */
export type Trial =
  | { readonly kind: "unproven" }
  | { readonly kind: "accepted" }
  | { readonly kind: "running"; readonly asked: boolean }
  | { readonly kind: "refused"; readonly asked: boolean; readonly message: string };

export type Initialization =
  | { readonly kind: "done"; readonly message: string }
  | { readonly kind: "running" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "missing"; readonly message: string }
  | { readonly kind: "waiting" };

export interface Scope extends Request {
  readonly db: SampleDB;
  /** Those of `db.spec`. */
  readonly choices: Choices;
  readonly deps: Dependencies;
  readonly observed: DatabaseView;
  readonly findings: Findings;
}

export type SampleDBStep = Step<Scope>;

/** The instances' image now. Jobs use it, because the image on trial may not even exist. */
export function imageInUse({ observed: { statefulSet }, choices }: Pick<Scope, "observed" | "choices">): string {
  return statefulSet?.spec?.template.spec?.containers[0]?.image ?? choices.image;
}

export function jobContext({ deps, objects }: Pick<Scope, "deps" | "objects">): JobContext {
  return { cache: deps.cache, objects, patience: deps.patience, now: deps.now() };
}

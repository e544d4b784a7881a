// What a reconcile of a SampleDB looks at, gathered once, what it may use, and what its steps find out.
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
import type { Blocker } from "../telling/blockers.ts";
import type { DescribedEvents } from "../telling/described-events.ts";
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
  /** Events of a namespace that is deleted go here. */
  readonly operatorNamespace: string;
  readonly inspections: Inspections;
  readonly patience: Patience;
  readonly volumes: Volumes;
  readonly timeToReady: TimeToReady;
  readonly monitors: Monitors;
  readonly patroni: (db: SampleDB, instance: Instance) => Promise<PatroniApi>;
  readonly choices: KnownChoices;
  readonly now: () => Date;
}

/**
 * A part of the database that Pods or Roles use by its name. Kubernetes takes any object of that name, also one that someone else has made:
 * a foreign ServiceAccount would lend its token to our Pods, and a Role of ours would give rights on a foreign ConfigMap.
 */
export type Part = "volumes" | "credentials" | "account" | "configuration" | "slice";

/** What the steps find out in one run, for later steps and for the status. Each begins on the safe side. */
export interface Findings {
  /** Any step adds to it. */
  readonly blockers: Blocker[];
  /** Parts that are known to be this database's own. Set by storage, credentials, account, services and configuration. Empty at first. */
  readonly confirmed: Set<Part>;
  /** Set by the trial. Unproven at first, so that a trial that throws lets nothing through. */
  trial: Trial;
  /** Set by initialization. At first as the stored status has it. */
  initialization: Initialization;
  /** What keeps the instances from running as asked. Set by configuration and rollout. */
  rollout: string | undefined;
  /** Settings were written, and instances may not have read them yet. Set by configuration. */
  settling: boolean;
  /** The certificate that the instances are to serve. Set by credentials. */
  serving: Serving | undefined;
  /** A new password for the application is on its way. Set by credentials. */
  passwordWaits: boolean;
  /** An instance was told to hand over, or to lead, in this run. Set by whichever step orders it, so that no other does. */
  switchoverOrdered: boolean;
  /** Why the spec can't be acted on. Set when the scope is opened. */
  readonly invalid: string | undefined;
  /** Why the major that is asked for is not the one that runs. Set when the scope is opened. */
  readonly upgrade: string | undefined;
}

/**
 * Whether the instances may get what the spec asks for now. `asked`: the user has changed something that is tried. Otherwise a newer operator
 * makes it differently, and Ready does not wait for it.
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
  /** Of the spec that is acted on. */
  readonly choices: Choices;
  readonly deps: Dependencies;
  readonly observed: DatabaseView;
  readonly findings: Findings;
}

export type SampleDBStep = Step<Scope>;

/** The image of the instances now. The image on trial may not even exist. */
export function imageInUse({ observed: { statefulSet }, choices }: Pick<Scope, "observed" | "choices">): string {
  return statefulSet?.spec?.template.spec?.containers[0]?.image ?? choices.image;
}

export function jobContext({ deps, objects }: Pick<Scope, "deps" | "objects">): JobContext {
  return { cache: deps.cache, objects, patience: deps.patience, now: deps.now() };
}

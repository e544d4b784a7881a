// For tests: what a reconcile observed and found, healthy unless the caller says otherwise.
import { StepError } from "../../runtime/controller/steps.ts";
import { primary } from "../database/instance.fixture.ts";
import type { Instance } from "../database/instance.ts";
import type { DatabaseView } from "../database/view.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import type { StatusInputs } from "./report/readiness.ts";
import type { Findings } from "./scope.ts";

export const now = () => new Date("2026-05-04T03:02:01.500Z");

export function observed(instances: readonly Instance[], told: Partial<DatabaseView> = {}): DatabaseView {
  return {
    statefulSet: undefined,
    range: { start: 0, count: instances.length },
    instances,
    primary: instances.find(({ role }) => role === "Primary"),
    commitsWait: true,
    claims: new Map(),
    patroni: { settings: undefined, lock: undefined, order: undefined, synchrony: undefined },
    repository: { config: undefined, claim: undefined, deployment: undefined, pod: undefined },
    writeSlice: undefined,
    initialized: true,
    bootstrapping: false,
    ...told,
  };
}

export function findings(told: Partial<Findings> = {}): Findings {
  return {
    blockers: [],
    trial: { kind: "accepted" },
    initialization: { kind: "done", message: "made role app" },
    rollout: undefined,
    settling: false,
    serving: undefined,
    passwordWaits: false,
    confirmed: new Set(),
    switchoverOrdered: false,
    archive: undefined,
    schedules: undefined,
    deletion: undefined,
    restore: undefined,
    formerVolumes: undefined,
    invalid: undefined,
    upgrade: undefined,
    ...told,
  };
}

interface Situation {
  readonly backups?: StatusInputs["backups"];
  readonly db?: SampleDB;
  readonly instances?: readonly Instance[];
  readonly observed?: Partial<DatabaseView>;
  readonly findings?: Partial<Findings>;
  readonly errors?: readonly Error[];
  readonly version?: string;
}

/** A database of one instance that serves, unless the caller says otherwise. */
export function situation({ db = sampleDB(), instances = [primary(0)], version, ...told }: Situation = {}): StatusInputs {
  const errors = (told.errors ?? []).map((cause) => new StepError("step", cause));
  const found = findings(told.findings);
  return {
    db,
    observed: observed(instances, told.observed),
    findings: found,
    backups: told.backups ?? [],
    outcome: { errors },
    version,
    now,
  };
}

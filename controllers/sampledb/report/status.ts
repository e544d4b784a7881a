// The status: a value that is computed once, from what was observed and found, and never edited.
import { conditionTypes } from "../../../api/conditions.ts";
import { reasons } from "../../../api/reasons.ts";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { type ConditionNow, conditionsNow, secondsOnly } from "../../../runtime/controller/conditions.ts";
import { restoreClaimOf } from "../../database/in-place.ts";
import { instanceSelector, selectorOf } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import { first } from "../../telling/checks.ts";
import { conditionOf } from "../../telling/events.ts";
import { blockersOf } from "./blockers.ts";
import {
  changeNotIn,
  hibernated,
  invalidSpec,
  noPrimary,
  notInitialized,
  paused,
  readiness,
  restartPending,
  rollingOut,
  type StatusInputs,
  trialNotHeld,
  upgradeNotDone,
} from "./readiness.ts";
import { recoverability } from "./recoverability.ts";

export function computeStatus(inputs: StatusInputs): SampleDBStatus {
  const { db, observed, now } = inputs;
  const { instances } = observed;
  const names = namesOf(db);
  const ready = instances.filter((instance) => instance.ready).length;
  const blockers = blockersOf(inputs);
  const version = inputs.version ?? db.status?.postgresVersion;
  return {
    ...(db.metadata.generation === undefined ? {} : { observedGeneration: db.metadata.generation }),
    conditions: conditionsNow(db.status?.conditions, conditionList(inputs), db.metadata.generation, now),
    replicas: instances.length,
    readyReplicas: ready,
    selector: selectorOf(instanceSelector(db)),
    ...primaryName(inputs),
    instances: instances.map(({ podName, role, ready, timeline, node }) => ({
      podName,
      role,
      ready,
      ...(timeline === undefined ? {} : { timeline }),
      ...(node === undefined ? {} : { node }),
    })),
    ...(version === undefined ? {} : { postgresVersion: version }),
    appSecretName: names.applicationSecret,
    services: { readWrite: names.readWriteService, readOnly: names.readOnlyService },
    ...schedulesNow(inputs),
    ...recoverability(inputs),
    ...deletionTold(inputs),
    ...restoreTold(inputs),
    ...(blockers.length > 0 ? { blockers } : {}),
  };
}

/** What was told before stays where nobody looked. */
function schedulesNow({ db, findings }: StatusInputs): Pick<SampleDBStatus, "schedules"> {
  const schedules = findings.schedules ?? db.status?.schedules ?? [];
  return schedules.length > 0 ? { schedules } : {};
}

/** In the status before anything is removed: the deletion acts on what is stored. */
function deletionTold({ db, findings: { deletion }, now }: StatusInputs): Pick<SampleDBStatus, "deletion"> {
  if (!deletion) return {};
  const before = db.status?.deletion;
  return { deletion: { ...deletion, sinceTime: before?.phase === deletion.phase ? before.sinceTime : secondsOnly(now()) } };
}

/** Keeps the stored phase while a Restore holds the SampleDB and no step has looked at it, as while the SampleDB is paused. */
function restoreTold({ db, findings, now }: StatusInputs): Pick<SampleDBStatus, "restore" | "formerVolumes"> {
  const before = db.status?.restore;
  const { restore } = findings;
  const told = restore && { ...restore, sinceTime: before?.phase === restore.phase ? before.sinceTime : secondsOnly(now()) };
  const kept = restoreClaimOf(db) ? before : undefined;
  const volumes = findings.formerVolumes ?? db.status?.formerVolumes ?? [];
  return { ...((told ?? kept) ? { restore: told ?? kept } : {}), ...(volumes.length > 0 ? { formerVolumes: [...volumes] } : {}) };
}

function conditionList(inputs: StatusInputs): ConditionNow[] {
  const { observed, findings, db } = inputs;
  const verdict = first(readiness, inputs) ?? {
    status: "True",
    reason: reasons.allInstancesReady,
    message: `${db.spec.replicas} of ${db.spec.replicas} instances answer SQL`,
  };
  const primary = first([hibernated, noPrimary], inputs) ?? {
    status: "True",
    reason: reasons.primaryAvailable,
    message: `${observed.primary?.podName} takes writes`,
  };
  const applied = first([invalidSpec, paused, changeNotIn, trialNotHeld, upgradeNotDone, rollingOut, restartPending], inputs) ?? {
    status: "True",
    reason: reasons.upToDate,
    message: "every instance runs as the spec asks",
  };
  const initialization = notInitialized(inputs) ?? {
    status: "True",
    reason: reasons.initialized,
    message: findings.initialization.kind === "done" ? findings.initialization.message : "",
  };
  return [
    { type: conditionTypes.ready, ...verdict },
    { type: conditionTypes.primaryAvailable, ...primary },
    { type: conditionTypes.initialized, ...initialization },
    { type: conditionTypes.upToDate, ...applied },
    ...archiveConditions(inputs),
  ] as ConditionNow[];
}

/** The last primary while there is none: a person who looks for a lost primary needs its name. */
function primaryName({ db, observed }: StatusInputs): Pick<SampleDBStatus, "primaryPodName"> {
  const name = observed.primary?.podName ?? db.status?.primaryPodName;
  return name === undefined ? {} : { primaryPodName: name };
}

/** While the spec is invalid or everything is left alone, nobody asks: what was told before stays. */
function archiveConditions({ db, findings: { archive } }: StatusInputs): ConditionNow[] {
  if (!db.spec.backup) return [];
  const types = [conditionTypes.repositoryReachable, conditionTypes.archivingHealthy, conditionTypes.walComplete];
  if (!archive) return types.flatMap((type) => conditionOf(db.status, type) ?? []);
  return [
    { type: conditionTypes.repositoryReachable, ...archive.repository },
    { type: conditionTypes.archivingHealthy, ...archive.archiving },
    { type: conditionTypes.walComplete, ...archive.wal },
  ];
}

// The status: a value that is computed once, from what was observed and found, and never edited.
import { conditionTypes } from "../../../api/conditions.ts";
import { reasons } from "../../../api/reasons.ts";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { type ConditionNow, conditionsNow, secondsOnly } from "../../../runtime/controller/conditions.ts";
import { isGood } from "../../database/backups.ts";
import { instanceSelector, selectorOf } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
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
    ...recoverability(inputs),
    ...deletionTold(inputs),
    ...(blockers.length > 0 ? { blockers } : {}),
  };
}

/** In the status before anything is removed: the deletion acts on what is stored. */
function deletionTold({ db, findings: { deletion }, now }: StatusInputs): Pick<SampleDBStatus, "deletion"> {
  if (!deletion) return {};
  const before = db.status?.deletion;
  return { deletion: { ...deletion, sinceTime: before?.phase === deletion.phase ? before.sinceTime : secondsOnly(now()) } };
}

/** Only of this SampleDB: Backups of an earlier one of the same name lie in another stanza. */
function recoverability({
  db: { metadata },
  backups,
}: StatusInputs): Pick<SampleDBStatus, "lastSuccessfulBackupTime" | "firstRecoverableTime"> {
  const good = backups.filter((backup) => isGood(backup) && backup.status?.repository?.stanza.startsWith(`${metadata.uid}-`));
  const last = good
    .flatMap(({ status }) => status?.completionTime ?? [])
    .sort()
    .at(-1);
  const [first] = good.flatMap(({ status }) => status?.consistentTime ?? []).sort();
  return {
    ...(last === undefined ? {} : { lastSuccessfulBackupTime: last }),
    ...(first === undefined ? {} : { firstRecoverableTime: first }),
  };
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
    ...backupConfigured(db),
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
  const types = [conditionTypes.repositoryReachable, conditionTypes.archivingHealthy];
  if (!archive) return types.flatMap((type) => conditionOf(db.status, type) ?? []);
  return [
    { type: conditionTypes.repositoryReachable, ...archive.repository },
    { type: conditionTypes.archivingHealthy, ...archive.archiving },
  ];
}

/** No condition for a SampleDB without `spec.backup`. */
function backupConfigured({ spec }: SampleDB): ConditionNow[] {
  if (spec.backup === undefined) return [];
  const message =
    "This version of the operator makes a backup for each Backup object. It runs no schedule and removes nothing by retention: make Backups yourself, as by a CronJob, and delete those that are not needed any more.";
  return [{ type: conditionTypes.backupConfigured, status: "False", reason: reasons.notSupported, message }];
}

// What a Restore restores from: a Backup, a SampleDB's newest good one, or a repository of which no object is left. Pure functions.
// A Backup's status is input: its place is worked out anew from the spec in it, and that spec is checked again.

import { checkSampleDB } from "../../api/checks/sampledb.ts";
import { describeViolations } from "../../api/checks/violation.ts";
import { labelNames } from "../../api/labels.ts";
import { reasons } from "../../api/reasons.ts";
import { sampleDBSpec } from "../../api/sampledb.ts";
import { isGood } from "../database/backups.ts";
import { chosenBackup, type KnownBackups, type Objection, sourceObjection } from "../database/restore-window.ts";
import { belongsTo } from "../desired/identity.ts";
import { repositoryComponent } from "../desired/repository.ts";
import type { RestoreSource } from "../desired/restore.ts";
import { type Archived, isArchived, majorIn, placeOf, uidIn } from "../desired/store.ts";
import type { PersistentVolumeClaim } from "../kinds/kubernetes.ts";
import type { Backup, Restore, SampleDB } from "../kinds/sampledb-io.ts";
import { failed, type RestoreState, waiting } from "./state.ts";

type Spec = SampleDB["spec"];
type Repository = NonNullable<Restore["spec"]["source"]["repository"]>;

export interface Seen extends KnownBackups {
  readonly restore: Restore;
  readonly claim: (name: string) => PersistentVolumeClaim | undefined;
  /** Whether a Pod of the repository of this SampleDB runs: its volume is on that Pod's node. */
  readonly repositoryRuns: (name: string) => boolean;
}

export interface Found {
  readonly kind: "found";
  readonly source: RestoreSource;
  /** The spec of the new SampleDB. */
  readonly spec: Spec;
}

/** The repository has to be looked into first. */
export interface Unread {
  readonly kind: "unread";
  readonly source: RestoreSource;
}

export function findSource(seen: Seen): Found | Unread | RestoreState {
  const { source, target } = seen.restore.spec;
  const claimName = source.repository?.volumeClaimName;
  const foreign = claimName === undefined ? undefined : foreignClaim(seen, claimName, undefined);
  if (foreign) return foreign;
  const objection = sourceObjection(seen.restore.spec, seen);
  if (objection) return refusedFor(objection);
  if (source.repository) return fromRepository(seen, source.repository);
  const backup = seen.backup ?? chosenBackup(target, seen.backups.filter(isGood));
  if (!backup) throw new Error("a source without an objection has a Backup");
  return fromBackup(seen, backup, seen.backup ? (backup.status?.label ?? null) : null);
}

/** A Backup that is still being made is waited for. At admission it is refused: whoever asks is there to ask again. */
export function refusedFor({ reason, message }: Objection): RestoreState {
  return reason === reasons.sourceNotReady ? waiting(reason, message) : failed(reason, message);
}

function fromBackup(seen: Seen, backup: Backup, label: string | null): Found | RestoreState {
  const { name } = backup.metadata;
  const { stanza = "" } = backup.status?.repository ?? {};
  const spec = checkedSpec(backup.status?.sampleDBSpec, `the spec in Backup ${name}`);
  if ("kind" in spec) return spec;
  const metadata = { namespace: backup.metadata.namespace ?? "", name: backup.spec.sampleDBName, uid: uidIn(stanza) };
  const db = { apiVersion: "", kind: "SampleDB", metadata, spec };
  if (!isArchived(db)) return failed(reasons.sourceBad, `the spec in Backup ${name} has no repository`);
  return placed(seen, db, { stanza, label }, db.spec);
}

function placed(seen: Seen, db: Archived, which: Pick<RestoreSource, "stanza" | "label">, spec: Spec): Found | RestoreState {
  const place = placeOf(db);
  const problem = place.s3 ? undefined : foreignClaim(seen, place.claimName, db);
  if (problem) return problem;
  const beside = !place.s3 && seen.repositoryRuns(db.metadata.name) ? db.metadata.name : undefined;
  return destined(seen, { ...which, place, beside }, spec, db.metadata.name);
}

/** Only a claim that the operator made as a repository: a Restore must not mount any volume of the namespace. */
function foreignClaim(seen: Seen, name: string, db: Pick<SampleDB, "metadata"> | undefined): RestoreState | undefined {
  const claim = seen.claim(name);
  const isOurs = claim?.metadata.labels?.[labelNames.component] === repositoryComponent && (!db || belongsTo(db, claim));
  return isOurs ? undefined : failed(reasons.sourceMissing, `claim ${name} is not there, or is no repository of this operator`);
}

function fromRepository(seen: Seen, repository: Repository): Found | Unread | RestoreState {
  const { s3, volumeClaimName, stanza, encryptionSecretName, sampleDBSpec: from } = repository;
  const { status } = seen.restore;
  const database = volumeClaimName === undefined ? undefined : seen.claim(volumeClaimName)?.metadata.labels?.[labelNames.database];
  const place = { s3, folder: s3?.prefix ?? "", claimName: volumeClaimName ?? "", encryptionSecretName };
  const beside = database !== undefined && seen.repositoryRuns(database) ? database : undefined;
  const source = { stanza, label: null, place, beside };
  if (from === "FromRepository" && !status?.sampleDBSpec) return { kind: "unread", source };
  const spec = checkedSpec(status?.sampleDBSpec ?? specOfOverrides(seen.restore, stanza), "the spec in the repository");
  if ("kind" in spec) return spec;
  return destined(seen, source, spec.backup ? { ...spec, backup: archiveBeside(repository, spec.backup) } : spec, database);
}

/** Undefined where the overrides do not say how large the volumes are. */
export function specOfOverrides({ spec: { destination } }: Restore, stanza: string): object | undefined {
  const size = destination.overrides?.storage?.size;
  return size === undefined ? undefined : { postgresVersion: majorIn(stanza), storage: { size: String(size) } };
}

/**
 * The new archive goes to where the Restore points, with the Secrets that the Restore names. The stored spec knows a store and Secrets of another
 * time, and maybe of another cluster. Schedules and retention stay.
 */
function archiveBeside({ s3, stanza, encryptionSecretName }: Repository, stored: NonNullable<Spec["backup"]>): NonNullable<Spec["backup"]> {
  const { repository, encryptionSecretName: _, ...kept } = stored;
  const place = s3 ? { s3: inParentFolder(s3, stanza) } : repository?.volume ? { volume: repository.volume } : undefined;
  return { ...kept, ...(place ? { repository: place } : {}), ...(encryptionSecretName === undefined ? {} : { encryptionSecretName }) };
}

/** The folder of the source is `PREFIX/NAMESPACE/UID`. An archive inside of it would be deleted with it. */
function inParentFolder({ prefix = "", ...s3 }: NonNullable<Repository["s3"]>, stanza: string): NonNullable<Repository["s3"]> {
  const folders = prefix.split("/");
  const parent = (folders.at(-1) === uidIn(stanza) ? folders.slice(0, -2) : folders).join("/");
  return { ...s3, ...(parent === "" ? {} : { prefix: parent }) };
}

/** What comes out of a repository is input: nothing is known of the value. */
function checkedSpec(value: unknown, what: string): Spec | ReturnType<typeof failed> {
  const refused = (why: string) => failed(reasons.sourceBad, `${what} is refused: ${why}`);
  const parsed = sampleDBSpec.safeParse(value); // fills in the defaults, which the checks rely on
  const broken = checkSampleDB((parsed.success ? parsed.data : value) as Spec);
  if (broken.length > 0) return refused(describeViolations(broken));
  if (!parsed.success)
    return refused(parsed.error.issues.map(({ path, message }) => `${["spec", ...path].join(".")}: ${message}`).join("; "));
  return parsed.data as Spec;
}

/**
 * The spec of the new SampleDB: that of the backup, with the overrides, and without what would run or hold it up again. `name` is the source's;
 * a bucket does not tell it. A copy under another name has plain Services: types and annotations of the source's may have a load balancer and a
 * host name made, to which applications of the source would then come.
 */
function destined({ restore }: Seen, source: RestoreSource, packed: Spec, name: string | undefined): Found | RestoreState {
  const { overrides = {} } = restore.spec.destination;
  const { paused: _, bootstrap, services, ...kept } = packed;
  const { scripts: __, ...made } = bootstrap; // what they did is in the data
  const { storage, ...others } = overrides;
  // With one instance there is no replica that a commit could wait for.
  const alone = overrides.replicas === 1 && packed.synchronousReplication === "Required" ? { synchronousReplication: "Preferred" } : {};
  const spec = sampleDBSpec.safeParse({
    ...kept,
    ...(services && name === restore.spec.destination.sampleDBName ? { services } : {}),
    ...others,
    ...alone,
    bootstrap: made,
    powerState: "Running",
    postgresVersion: majorIn(source.stanza),
    storage: { ...packed.storage, ...storage },
  });
  const refused = spec.success ? checkSampleDB(spec.data as Spec) : undefined;
  if (!spec.success || refused?.length)
    return failed(
      reasons.sourceBad,
      `the SampleDB that would be made is refused: ${refused ? describeViolations(refused) : spec.error?.message.slice(0, 300)}`,
    );
  return { kind: "found", source, spec: spec.data as Spec };
}

/** The new database before its SampleDB is there: under the Restore's own uid. */
export function destinationOf(
  { apiVersion, metadata: { namespace = "", uid = "" }, spec: { destination } }: Restore,
  spec: Spec,
): SampleDB {
  return { apiVersion, kind: "SampleDB", metadata: { namespace, name: destination.sampleDBName, uid }, spec };
}

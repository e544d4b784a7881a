// Changes of existing objects: those that are refused, and those that must be accepted.
import type { Fields } from "./bad-spec.ts";
import { s3Fields } from "./bases.ts";

/**
 * A change of the spec. `before` is added to the valid spec first, and `status` is stored as the operator would. A change without `refused`
 * must be accepted.
 */
export interface Transition {
  readonly title: string;
  readonly before: Fields;
  readonly status?: Fields;
  readonly change: Fields;
  readonly refused?: readonly [field: string, allowed: RegExp];
}

const onVolume = (volume: Fields): Fields => ({ backup: { repository: { volume } } });
const inS3 = (fields: Fields = {}): Fields => ({ backup: { repository: { s3: { ...s3Fields, ...fields } } } });

const size = ["spec.storage.size", /storage\.size can't shrink; it may stay or grow/] as const;
const lowered = [
  "spec.postgresVersion",
  /postgresVersion can't be lowered to 15: status\.postgresVersion does not say that the data is of 15; make a new SampleDB/,
] as const;
const storageClass = ["spec.storage.storageClassName", /can't be changed; make a new SampleDB and restore into it/] as const;
const encryption = [
  "spec.backup.encryptionSecretName",
  /can't be added, changed or removed under a repository in use; remove backup first/,
] as const;
const moved = [
  "spec.backup.repository",
  /can't move while it is in use \(volume, s3, endpoint, bucket and prefix stay\); remove backup first/,
] as const;
const repositorySize = ["spec.backup", /backup\.repository\.volume\.size can't shrink; it may stay or grow/] as const;
const repositoryClass = ["spec.backup.repository.volume.storageClassName", /can't be changed; remove backup first/] as const;

export const sampleDBTransitions: readonly Transition[] = [
  { title: "storage shrinks", before: { storage: { size: "2Gi" } }, change: { storage: { size: "1Gi" } }, refused: size },
  { title: "storage shrinks in other units", before: {}, change: { storage: { size: "1000Mi" } }, refused: size },
  { title: "storage shrinks with a larger number", before: {}, change: { storage: { size: "1073741823" } }, refused: size },
  {
    title: "storage shrinks to what is no size",
    before: {},
    change: { storage: { size: "1 Gi" } },
    refused: ["spec.storage.size", /above zero/],
  },
  { title: "storage grows", before: {}, change: { storage: { size: "1025Mi" } } },
  { title: "storage stays in other units", before: {}, change: { storage: { size: "1024Mi" } } },
  { title: "a class appears", before: {}, change: { storage: { storageClassName: "fast" } }, refused: storageClass },
  {
    title: "a class vanishes",
    before: { storage: { storageClassName: "fast" } },
    change: { storage: { storageClassName: null } },
    refused: storageClass,
  },
  {
    title: "a class changes",
    before: { storage: { storageClassName: "fast" } },
    change: { storage: { storageClassName: "slow" } },
    refused: storageClass,
  },
  { title: "the version is lowered, without a status", before: {}, change: { postgresVersion: 15 }, refused: lowered },
  {
    title: "the version is lowered, none is told yet",
    before: {},
    status: { replicas: 1 },
    change: { postgresVersion: 15 },
    refused: lowered,
  },
  {
    title: "the version is lowered below the data's",
    before: {},
    status: { postgresVersion: "17.5" },
    change: { postgresVersion: 15 },
    refused: [
      "spec.postgresVersion",
      /postgresVersion can't be lowered to 15: the data is of PostgreSQL 17\.5; make a new SampleDB of PostgreSQL 15 and move the data there with pg_dump/,
    ],
  },
  {
    title: "the data's major begins with the version",
    before: {},
    status: { postgresVersion: "151.0" },
    change: { postgresVersion: 15 },
    refused: ["spec.postgresVersion", /the data is of PostgreSQL 151\.0/],
  },
  {
    title: "the version is lowered to no major",
    before: {},
    status: { postgresVersion: "16.1" },
    change: { postgresVersion: 16 },
    refused: ["spec.postgresVersion", /supported values: "15", "17"/],
  },
  {
    title: "the version goes back to the data's",
    before: {},
    status: { postgresVersion: "15.18" },
    change: { postgresVersion: 15 },
  },
  {
    title: "the version and its settings go back",
    before: { postgresql: { parameters: { summarize_wal: "on" } } },
    status: { postgresVersion: "15.18" },
    change: { postgresVersion: 15, postgresql: null },
  },
  {
    title: "the version goes back, storage shrinks",
    before: { storage: { size: "2Gi" } },
    status: { postgresVersion: "15.18" },
    change: { postgresVersion: 15, storage: { size: "1Gi" } },
    refused: size,
  },
  {
    title: "the version is raised to the data's",
    before: { postgresVersion: 15 },
    status: { postgresVersion: "17.5" },
    change: { postgresVersion: 17 },
  },
  { title: "the version is raised", before: { postgresVersion: 15 }, change: { postgresVersion: 17 } },
  { title: "replicas are added", before: {}, change: { replicas: 3 } },
  { title: "replicas are taken away", before: { replicas: 3 }, change: { replicas: 1 } },
  {
    title: "the last replica goes while one is required",
    before: { replicas: 2, synchronousReplication: "Required" },
    change: { replicas: 1 },
    refused: ["spec.replicas", /needs replicas: 2 or more/],
  },
  {
    title: "the database is renamed",
    before: {},
    change: { bootstrap: { databaseName: "other" } },
    refused: ["spec.bootstrap.databaseName", /rename it with SQL/],
  },
  {
    title: "the owner is renamed",
    before: {},
    change: { bootstrap: { ownerName: "other" } },
    refused: ["spec.bootstrap.ownerName", /rename it with SQL/],
  },
  {
    title: "bootstrap vanishes with a name of its own",
    before: { bootstrap: { databaseName: "orders" } },
    change: { bootstrap: null },
    refused: ["spec.bootstrap.databaseName", /can't be changed/],
  },
  { title: "an extension is added", before: {}, change: { bootstrap: { extensions: ["pgcrypto"] } } },
  { title: "encryption appears", before: { backup: {} }, change: { backup: { encryptionSecretName: "a" } }, refused: encryption },
  {
    title: "encryption vanishes",
    before: { backup: { encryptionSecretName: "a" } },
    change: { backup: { encryptionSecretName: null } },
    refused: encryption,
  },
  {
    title: "encryption changes",
    before: { backup: { encryptionSecretName: "a" } },
    change: { backup: { encryptionSecretName: "b" } },
    refused: encryption,
  },
  { title: "a repository appears", before: { backup: {} }, change: onVolume({}), refused: moved },
  { title: "a repository vanishes", before: onVolume({}), change: { backup: { repository: null } }, refused: moved },
  {
    title: "a volume becomes S3",
    before: onVolume({}),
    change: { backup: { repository: { volume: null, s3: s3Fields } } },
    refused: moved,
  },
  { title: "S3 becomes a volume", before: inS3(), change: { backup: { repository: { volume: {}, s3: null } } }, refused: moved },
  { title: "the endpoint changes", before: inS3(), change: inS3({ endpoint: "https://other.example.com" }), refused: moved },
  { title: "the bucket changes", before: inS3(), change: inS3({ bucket: "other" }), refused: moved },
  { title: "a prefix appears", before: inS3(), change: inS3({ prefix: "a" }), refused: moved },
  { title: "a prefix vanishes", before: inS3({ prefix: "a" }), change: inS3({ prefix: null }), refused: moved },
  { title: "a prefix changes", before: inS3({ prefix: "a" }), change: inS3({ prefix: "b" }), refused: moved },
  { title: "credentials and authority change", before: inS3(), change: inS3({ credentialsSecretName: "new-keys", caSecretName: "ca" }) },
  { title: "the repository shrinks", before: onVolume({ size: "4Gi" }), change: onVolume({ size: "3Gi" }), refused: repositorySize },
  {
    title: "the repository's size appears below twice the data",
    before: onVolume({}),
    change: onVolume({ size: "1Gi" }),
    refused: repositorySize,
  },
  {
    title: "the repository's size vanishes above twice the data",
    before: onVolume({ size: "4Gi" }),
    change: onVolume({ size: null }),
    refused: repositorySize,
  },
  { title: "the repository's size appears as twice the data", before: onVolume({}), change: onVolume({ size: "2048Mi" }) },
  { title: "the repository grows", before: onVolume({ size: "4Gi" }), change: onVolume({ size: "5Gi" }) },
  { title: "the data grows beside a repository without a size", before: onVolume({}), change: { storage: { size: "2Gi" } } },
  { title: "the repository's class appears", before: onVolume({}), change: onVolume({ storageClassName: "a" }), refused: repositoryClass },
  {
    title: "the repository's class vanishes",
    before: onVolume({ storageClassName: "a" }),
    change: onVolume({ storageClassName: null }),
    refused: repositoryClass,
  },
  {
    title: "the repository's class changes",
    before: onVolume({ storageClassName: "a" }),
    change: onVolume({ storageClassName: "b" }),
    refused: repositoryClass,
  },
  { title: "backup is added", before: {}, change: inS3() },
  { title: "backup is removed", before: inS3(), change: { backup: null } },
  { title: "a schedule is added", before: inS3(), change: { backup: { schedules: [{ name: "nightly", schedule: "0 3 * * *" }] } } },
];

const another = /can't be changed; make another Backup/;

export const backupTransitions: readonly Transition[] = [
  { title: "another SampleDB", before: {}, change: { sampleDBName: "other" }, refused: ["spec.sampleDBName", another] },
  { title: "another type", before: {}, change: { type: "Incremental" }, refused: ["spec.type", another] },
  { title: "a type goes back to the default", before: { type: "Incremental" }, change: { type: null }, refused: ["spec.type", another] },
  { title: "another deletion policy", before: {}, change: { deletionPolicy: "Delete" } },
];

const restored = ["spec", /a Restore can't be changed; make another one/] as const;

export const restoreTransitions: readonly Transition[] = [
  { title: "another source", before: {}, change: { source: { sampleDBName: "other" } }, refused: restored },
  { title: "a source of another sort", before: {}, change: { source: { sampleDBName: null, backupName: "full" } }, refused: restored },
  { title: "another target", before: {}, change: { target: { type: "Immediate" } }, refused: restored },
  { title: "a timeline appears", before: {}, change: { target: { timeline: 2 } }, refused: restored },
  { title: "a timeline vanishes", before: { target: { timeline: 2 } }, change: { target: { timeline: null } }, refused: restored },
  { title: "another destination", before: {}, change: { destination: { sampleDBName: "other" } }, refused: restored },
  { title: "in place after all", before: {}, change: { destination: { type: "InPlace" } }, refused: restored },
  { title: "overrides appear", before: {}, change: { destination: { overrides: { replicas: 2 } } }, refused: restored },
  { title: "the default is written down", before: {}, change: { target: { type: "Latest" } } },
];

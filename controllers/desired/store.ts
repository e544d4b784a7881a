// Where the repository of a SampleDB lies, a volume or a bucket: pgBackRest's settings for it, and the mounts of a Pod that works on it.
import type { Deployment } from "../kinds/kubernetes.ts";
import type { Backup as BackupObject, SampleDB } from "../kinds/sampledb-io.ts";
import { namesOf } from "./names.ts";

type Backup = NonNullable<SampleDB["spec"]["backup"]>;
type S3 = NonNullable<NonNullable<Backup["repository"]>["s3"]>;
type PodSpec = NonNullable<NonNullable<Deployment["spec"]>["template"]["spec"]>;

/** A SampleDB that has a repository. */
export type Archived = SampleDB & { readonly spec: { readonly backup: Backup } };

export function isArchived(db: SampleDB): db is Archived {
  return db.spec.backup !== undefined;
}

/** Of the ConfigMap with addresses, in every Pod that runs pgBackRest on the repository. */
export const configDirectory = "/etc/sampledb/repository";
/** The key in that ConfigMap, and so the name of the file. */
export const pgBackRestFile = "pgbackrest.conf";

const volumeDirectory = "/var/lib/pgbackrest";
const storeDirectory = "/etc/sampledb/store";
const storeAuthorityDirectory = "/etc/sampledb/store-ca";
const encryptionDirectory = "/etc/sampledb/encryption";

/** The bucket; undefined where the repository is a volume. */
export function bucketOf({ spec: { backup } }: Archived): S3 | undefined {
  return backup.repository?.s3;
}

export function hasVolume(db: Archived): boolean {
  return bucketOf(db) === undefined;
}

/** Where a repository lies, whether or not its SampleDB is still there. */
export interface Place {
  /** The bucket; undefined for a volume. */
  readonly s3: S3 | undefined;
  /** The folder in the bucket. */
  readonly folder: string;
  /** The claim of the volume. */
  readonly claimName: string;
  readonly encryptionSecretName: string | undefined;
}

export function placeOf(db: Archived): Place {
  const s3 = bucketOf(db);
  return {
    s3,
    folder: s3 ? bucketFolder(db, s3) : "",
    claimName: namesOf(db).repository,
    encryptionSecretName: db.spec.backup.encryptionSecretName,
  };
}

/** As the status of a Backup tells it. */
export type ToldPlace = NonNullable<NonNullable<BackupObject["status"]>["repository"]>;

export function toldPlaceOf(db: Archived): Pick<ToldPlace, "s3" | "volumeClaimName"> {
  const s3 = bucketOf(db);
  if (!s3) return { volumeClaimName: namesOf(db).repository };
  return { s3: { endpoint: s3.endpoint, bucket: s3.bucket, prefix: bucketFolder(db, s3) } };
}

/**
 * Not so once `spec.backup` was removed and set up with another place. Where the status tells no place, it is this one. The folder of an earlier
 * SampleDB of the name is beside the present one, and within reach.
 */
export function isInRepositoryOf(db: Archived, told: ToldPlace | undefined): boolean {
  if (!told) return true;
  const uid = isStanza(told.stanza) ? uidIn(told.stanza) : db.metadata.uid;
  const { s3, volumeClaimName } = toldPlaceOf({ ...db, metadata: { ...db.metadata, ...(uid === undefined ? {} : { uid }) } });
  if (told.s3) return told.s3.endpoint === s3?.endpoint && told.s3.bucket === s3?.bucket && told.s3.prefix === s3?.prefix;
  return told.volumeClaimName === undefined || told.volumeClaimName === volumeClaimName;
}

/** Without keys: the programs add those from the mounted files. */
export function storeSettings({ s3, folder, encryptionSecretName }: Place): Readonly<Record<string, string>> {
  return {
    ...(s3 ? bucketSettings(s3, folder) : { "repo1-type": "posix", "repo1-path": volumeDirectory }),
    ...(encryptionSecretName === undefined ? {} : { "repo1-cipher-type": "aes-256-cbc" }),
    "compress-type": "zst",
  };
}

/** It has namespace and uid in it, so SampleDBs that share a bucket can't read, overwrite or expire each other's backups. */
export function bucketFolder({ metadata: { namespace, uid } }: Archived, { prefix }: S3): string {
  return [prefix, namespace, uid].filter(Boolean).join("/");
}

function bucketSettings(s3: S3, folder: string): Record<string, string> {
  return {
    "repo1-type": "s3",
    "repo1-path": `/${folder}`,
    "repo1-s3-endpoint": s3.endpoint,
    "repo1-s3-bucket": s3.bucket,
    "repo1-s3-region": s3.region,
    "repo1-s3-uri-style": s3.uriStyle.toLowerCase(),
    ...(s3.caSecretName === undefined ? {} : { "repo1-storage-ca-file": `${storeAuthorityDirectory}/ca.crt` }),
  };
}

export interface Mounts {
  readonly volumes: NonNullable<PodSpec["volumes"]>;
  readonly volumeMounts: NonNullable<PodSpec["containers"][number]["volumeMounts"]>;
}

/** Keys, authority and passphrase as files, the repository's volume, and room to work in. Only for Pods of the operator's own image. */
export function storeMounts({ s3, claimName, encryptionSecretName }: Place, { readOnly = false } = {}): Mounts {
  const secrets = [
    ...(s3 ? [secretVolume("store", storeDirectory, s3.credentialsSecretName)] : []),
    ...(s3?.caSecretName === undefined ? [] : [secretVolume("store-ca", storeAuthorityDirectory, s3.caSecretName)]),
    ...(encryptionSecretName === undefined ? [] : [secretVolume("encryption", encryptionDirectory, encryptionSecretName)]),
  ];
  return {
    volumes: [
      ...secrets.map(({ volume }) => volume),
      ...(s3 ? [] : [{ name: "repository", persistentVolumeClaim: { claimName, ...(readOnly ? { readOnly } : {}) } }]),
      { name: "run", emptyDir: { medium: "Memory" } }, // keys are written there
      { name: "tmp", emptyDir: {} },
    ],
    volumeMounts: [
      ...secrets.map(({ mount }) => mount),
      ...(s3 ? [] : [{ name: "repository", mountPath: volumeDirectory, ...(readOnly ? { readOnly } : {}) }]),
      { name: "run", mountPath: "/run/pgbackrest" },
      { name: "tmp", mountPath: "/tmp" },
    ],
  };
}

/** Optional: without the Secret the Pod starts all the same, and its program says what is missing. */
function secretVolume(name: string, mountPath: string, secretName: string) {
  return {
    volume: { name, secret: { secretName, optional: true, defaultMode: 0o640 } },
    mount: { name, mountPath, readOnly: true },
  };
}

/** The stanza's section is the last one of a repository's configuration. */
export function stanzaIn(configuration: string): string {
  return /\[([-_a-zA-Z0-9]+)\]\s*$/.exec(configuration)?.[1] ?? "";
}

/** Of `UID-MAJOR-GENERATION`. NaN where the text is none. */
export function majorIn(stanza: string): number {
  return Number(/-(\d+)-\d+$/.exec(stanza)?.[1] ?? Number.NaN);
}

/** Whether a text that a status tells may be the name of an archive of ours. */
export function isStanza(text: string): boolean {
  return /^[-0-9a-f]{36}-\d{1,3}-\d{1,6}$/.test(text);
}

export function uidIn(stanza: string): string {
  return stanza.replace(/-\d+-\d+$/, "");
}

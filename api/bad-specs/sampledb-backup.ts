// Bad SampleDBs: repository, schedules and retention of their backups.
import { type BadSpec, type Fields, inSpec, many } from "./bad-spec.ts";
import { s3Fields } from "./bases.ts";

const aSize = /must be a size above zero, a number with a unit such as 10Gi/;
const anObjectName = /must be the name of an object: a-z, 0-9, - and \. in it/;
const anEndpoint = /must be https:\/\/ with a host and at most a port from 1 to 65535, without a path/;
const aBucket = /must be the name of a bucket: a-z, 0-9, - and \. in it/;
const folders = /must be folders such as databases\/orders/;

const inS3 = (fields: Fields): Fields => ({ backup: { repository: { s3: { ...s3Fields, ...fields } } } });
const withoutS3 = (field: string): Fields => {
  const { [field]: _, ...rest } = s3Fields;
  return { backup: { repository: { s3: rest } } };
};
const onVolume = (volume: Fields): Fields => ({ backup: { repository: { volume } } });
const scheduled = (...schedules: readonly Fields[]): Fields => ({ backup: { schedules } });
const nightly: Fields = { name: "nightly", schedule: "0 3 * * *" };

const s3 = "spec.backup.repository.s3";
const first = "spec.backup.schedules[0]";

const repository: readonly BadSpec[] = [
  ["a repository nowhere", { backup: { repository: {} } }, "spec.backup.repository", /needs exactly one of volume, s3/],
  [
    "a repository in two places",
    { backup: { repository: { volume: {}, s3: s3Fields } } },
    "spec.backup.repository",
    /needs exactly one of volume, s3/,
  ],
  ["a repository that is a string", { backup: { repository: "s3" } }, "spec.backup.repository", /must be of type object/],
  ["a volume of zero", onVolume({ size: "0" }), "spec.backup.repository.volume.size", aSize],
  ["a negative volume", onVolume({ size: "-4Gi" }), "spec.backup.repository.volume.size", aSize],
  ["a volume in GB", onVolume({ size: "4GB" }), "spec.backup.repository.volume.size", aSize],
  ["a class with a slash", onVolume({ storageClassName: "a/b" }), "spec.backup.repository.volume.storageClassName", anObjectName],
  ["an endpoint over http", inS3({ endpoint: "http://s3.example.com" }), `${s3}.endpoint`, anEndpoint],
  ["an endpoint without a scheme", inS3({ endpoint: "s3.example.com" }), `${s3}.endpoint`, anEndpoint],
  ["an endpoint with a path", inS3({ endpoint: "https://s3.example.com/backups" }), `${s3}.endpoint`, anEndpoint],
  ["an endpoint with a password", inS3({ endpoint: "https://me:secret@s3.example.com" }), `${s3}.endpoint`, anEndpoint],
  ["an endpoint at port 65536", inS3({ endpoint: "https://s3.example.com:65536" }), `${s3}.endpoint`, anEndpoint],
  ["an endpoint at port 0", inS3({ endpoint: "https://s3.example.com:0" }), `${s3}.endpoint`, anEndpoint],
  ["an endpoint without a host", inS3({ endpoint: "https://:9000" }), `${s3}.endpoint`, anEndpoint],
  ["no endpoint", withoutS3("endpoint"), `${s3}.endpoint`, /Required value/],
  ["no region", withoutS3("region"), `${s3}.region`, /Required value/],
  ["an empty region", inS3({ region: "" }), `${s3}.region`, /at least 1 chars long/],
  ["a region of 65 characters", inS3({ region: "x".repeat(65) }), `${s3}.region`, /may not be more than 64 bytes/],
  ["no bucket", withoutS3("bucket"), `${s3}.bucket`, /Required value/],
  ["a bucket in upper case", inS3({ bucket: "Backups" }), `${s3}.bucket`, aBucket],
  ["a bucket with a slash", inS3({ bucket: "backups/orders" }), `${s3}.bucket`, aBucket],
  ["a bucket of two characters", inS3({ bucket: "ab" }), `${s3}.bucket`, /at least 3 chars long/],
  ["a bucket of 64 characters", inS3({ bucket: "x".repeat(64) }), `${s3}.bucket`, /may not be more than 63 bytes/],
  ["a prefix with a slash in front", inS3({ prefix: "/databases" }), `${s3}.prefix`, folders],
  ["a prefix with a slash at its end", inS3({ prefix: "databases/" }), `${s3}.prefix`, folders],
  ["a prefix that leads out of its folder", inS3({ prefix: "databases/../others" }), `${s3}.prefix`, folders],
  ["a prefix of a dot", inS3({ prefix: "." }), `${s3}.prefix`, folders],
  ["a prefix with a space", inS3({ prefix: "my databases" }), `${s3}.prefix`, folders],
  ["an empty prefix", inS3({ prefix: "" }), `${s3}.prefix`, folders],
  ["a prefix of 257 characters", inS3({ prefix: "x".repeat(257) }), `${s3}.prefix`, /may not be more than 256 bytes/],
  ["a URI style in lower case", inS3({ uriStyle: "path" }), `${s3}.uriStyle`, /supported values: "Host", "Path"/],
  ["no credentials", withoutS3("credentialsSecretName"), `${s3}.credentialsSecretName`, /Required value/],
  ["credentials with an underscore", inS3({ credentialsSecretName: "s3_keys" }), `${s3}.credentialsSecretName`, anObjectName],
  ["an authority in upper case", inS3({ caSecretName: "CA" }), `${s3}.caSecretName`, anObjectName],
  ["a passphrase with a dot at its end", { backup: { encryptionSecretName: "secret." } }, "spec.backup.encryptionSecretName", anObjectName],
];

const aName = /must be a name of a-z, 0-9 and -, with a letter or digit at both ends/;
const types = /supported values: "Full", "Differential", "Incremental"/;

const schedules: readonly BadSpec[] = [
  ["schedules that are a map", { backup: { schedules: { nightly: "0 3 * * *" } } }, "spec.backup.schedules", /must be of type array/],
  ["a schedule without a name", scheduled({ schedule: "0 3 * * *" }), `${first}.name`, /Required value/],
  ["a schedule without a time", scheduled({ name: "nightly" }), `${first}.schedule`, /Required value/],
  ["a schedule twice", scheduled(nightly, { ...nightly, type: "Incremental" }), "spec.backup.schedules[1]", /Duplicate value/],
  ["a schedule in upper case", scheduled({ ...nightly, name: "Nightly" }), `${first}.name`, aName],
  ["a schedule with a dot", scheduled({ ...nightly, name: "night.ly" }), `${first}.name`, aName],
  ["a schedule that ends with a dash", scheduled({ ...nightly, name: "nightly-" }), `${first}.name`, aName],
  ["an empty name of a schedule", scheduled({ ...nightly, name: "" }), `${first}.name`, /at least 1 chars long/],
  ["a name of 21 characters", scheduled({ ...nightly, name: "x".repeat(21) }), `${first}.name`, /may not be more than 20 bytes/],
  ["an empty time", scheduled({ ...nightly, schedule: "" }), `${first}.schedule`, /at least 1 chars long/],
  ["a time of 129 characters", scheduled({ ...nightly, schedule: "*".repeat(129) }), `${first}.schedule`, /may not be more than 128 bytes/],
  ["an empty time zone", scheduled({ ...nightly, timeZone: "" }), `${first}.timeZone`, /at least 1 chars long/],
  ["a time zone that is a number", scheduled({ ...nightly, timeZone: 2 }), `${first}.timeZone`, /must be of type string/],
  ["a type in lower case", scheduled({ ...nightly, type: "full" }), `${first}.type`, types],
  ["suspended in quotes", scheduled({ ...nightly, suspend: "true" }), `${first}.suspend`, /must be of type boolean/],
  [
    "a deadline of zero",
    scheduled({ ...nightly, startingDeadlineSeconds: 0 }),
    `${first}.startingDeadlineSeconds`,
    /greater than or equal to 1/,
  ],
  [
    "a deadline beyond a week",
    scheduled({ ...nightly, startingDeadlineSeconds: 604_801 }),
    `${first}.startingDeadlineSeconds`,
    /less than or equal to 604800/,
  ],
  [
    "a deadline with a unit",
    scheduled({ ...nightly, startingDeadlineSeconds: "15m" }),
    `${first}.startingDeadlineSeconds`,
    /must be of type integer/,
  ],
  ["17 schedules", scheduled(...many(17).map((name) => ({ ...nightly, name }))), "spec.backup.schedules", /must have at most 16 items/],
];

const kept = "spec.backup.retention.fullBackupCount";
const days = "spec.backup.retention.periodDays";

const retention: readonly BadSpec[] = [
  ["no backup kept", { backup: { retention: { fullBackupCount: 0 } } }, kept, /greater than or equal to 1/],
  ["1001 backups kept", { backup: { retention: { fullBackupCount: 1001 } } }, kept, /less than or equal to 1000/],
  ["a count in quotes", { backup: { retention: { fullBackupCount: "2" } } }, kept, /must be of type integer/],
  ["kept for no day", { backup: { retention: { periodDays: 0 } } }, days, /greater than or equal to 1/],
  ["kept for more than ten years", { backup: { retention: { periodDays: 3651 } } }, days, /less than or equal to 3650/],
  ["kept for 30d", { backup: { retention: { periodDays: "30d" } } }, days, /must be of type integer/],
  ["retention that is a number", { backup: { retention: 7 } }, "spec.backup.retention", /must be of type object/],
];

export const badBackupSettings: readonly BadSpec[] = inSpec([...repository, ...schedules, ...retention]);

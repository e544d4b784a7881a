// Bad SampleDBs: the fields of the database itself.
import { type BadSpec, inSpec, many } from "./bad-spec.ts";

const aSize = /must be a size above zero, a number with a unit such as 10Gi/;
const anObjectName = /must be the name of an object: a-z, 0-9, - and \. in it/;
const aSampleDBName = /metadata\.name must have at most 40 characters, start with a letter, and have only a-z, 0-9 and - in it/;
const aPostgresName = /must be a PostgreSQL name that needs no quotes: a-z, 0-9 and _ in it/;
const orOf = (...values: string[]) => new RegExp(`supported values: ${values.map((value) => `"?${value}"?`).join(", ")}`);
const booleans = /must be of type boolean/;

const names: readonly BadSpec[] = [
  ["a name with a dot", { metadata: { name: "or.ders" } }, "<nil>", aSampleDBName],
  ["a name with a digit in front", { metadata: { name: "1orders" } }, "<nil>", aSampleDBName],
  ["a name of 41 characters", { metadata: { name: "x".repeat(41) } }, "<nil>", aSampleDBName],
  ["a name in upper case", { metadata: { name: "Orders" } }, "metadata.name", /lower case alphanumeric characters/],
  ["a name that ends with a dash", { metadata: { name: "orders-" } }, "metadata.name", /must start and end with an alphanumeric/],
  ["an empty name", { metadata: { name: "" } }, "metadata.name", /name or generateName is required/],
  ["no spec", { spec: null }, "spec", /Required value/],
];

const version: readonly BadSpec[] = inSpec([
  ["no version", { postgresVersion: null }, "spec.postgresVersion", /Required value/],
  ["version 16", { postgresVersion: 16 }, "spec.postgresVersion", orOf("15", "17")],
  ["version 14", { postgresVersion: 14 }, "spec.postgresVersion", orOf("15", "17")],
  ["version 0", { postgresVersion: 0 }, "spec.postgresVersion", orOf("15", "17")],
  ["a version in quotes", { postgresVersion: "17" }, "spec.postgresVersion", /must be of type integer/],
  ["a minor version", { postgresVersion: 17.5 }, "spec.postgresVersion", /must be of type integer/],
  ["an empty image", { image: "" }, "spec.image", /at least 1 chars long/],
  ["an image in upper case", { image: "Postgres:17" }, "spec.image", /must be the name of an image with its tag or digest/],
  ["an image with a space", { image: "postgres: 17" }, "spec.image", /must be the name of an image with its tag or digest/],
  ["an image with a scheme and a query", { image: "https://example.com/?x" }, "spec.image", /must be the name of an image/],
  ["an image of 513 characters", { image: "x".repeat(513) }, "spec.image", /may not be more than 512 bytes/],
]);

const replicas: readonly BadSpec[] = inSpec([
  ["no replica", { replicas: 0 }, "spec.replicas", /greater than or equal to 1/],
  ["minus one replica", { replicas: -1 }, "spec.replicas", /greater than or equal to 1/],
  ["ten replicas", { replicas: 10 }, "spec.replicas", /less than or equal to 9/],
  ["replicas in quotes", { replicas: "3" }, "spec.replicas", /must be of type integer/],
  ["half a replica", { replicas: 1.5 }, "spec.replicas", /must be of type integer/],
  [
    "a required replica that is not there",
    { synchronousReplication: "Required" },
    "spec.replicas",
    /Required needs replicas: 2 or more; use Preferred/,
  ],
  [
    "replication in lower case",
    { synchronousReplication: "required" },
    "spec.synchronousReplication",
    orOf("Disabled", "Preferred", "Required"),
  ],
  ["replication Off", { synchronousReplication: "Off" }, "spec.synchronousReplication", orOf("Disabled", "Preferred", "Required")],
  ["replication off as YAML reads it", { synchronousReplication: false }, "spec.synchronousReplication", /must be of type string/],
  ["replication as a number", { synchronousReplication: 1 }, "spec.synchronousReplication", /must be of type string/],
]);

const storage: readonly BadSpec[] = inSpec([
  ["no storage", { storage: null }, "spec.storage", /Required value/],
  ["storage without a size", { storage: { size: null } }, "spec.storage.size", /Required value/],
  ["storage that is a string", { storage: "1Gi" }, "spec.storage", /must be of type object/],
  ["a negative size", { storage: { size: "-1Gi" } }, "spec.storage.size", aSize],
  ["a size of zero", { storage: { size: "0" } }, "spec.storage.size", aSize],
  ["a size of zero with a unit", { storage: { size: "0Gi" } }, "spec.storage.size", aSize],
  ["a size with a space", { storage: { size: "10 Gi" } }, "spec.storage.size", aSize],
  ["a size in GB", { storage: { size: "10GB" } }, "spec.storage.size", aSize],
  ["a size in gi", { storage: { size: "10gi" } }, "spec.storage.size", aSize],
  ["a size in words", { storage: { size: "ten" } }, "spec.storage.size", aSize],
  ["a unit alone", { storage: { size: "Gi" } }, "spec.storage.size", aSize],
  ["a size with a comma", { storage: { size: "1,5Gi" } }, "spec.storage.size", aSize],
  ["an empty size", { storage: { size: "" } }, "spec.storage.size", /at least 1 chars long/],
  ["a size that is a number", { storage: { size: 10 } }, "spec.storage.size", /must be of type string/],
  ["a size of 33 characters", { storage: { size: "1".repeat(33) } }, "spec.storage.size", /may not be more than 32 bytes/],
  ["a class in upper case", { storage: { storageClassName: "Standard" } }, "spec.storage.storageClassName", anObjectName],
  ["a class with an underscore", { storage: { storageClassName: "fast_disk" } }, "spec.storage.storageClassName", anObjectName],
  ["an empty class", { storage: { storageClassName: "" } }, "spec.storage.storageClassName", /at least 1 chars long/],
  [
    "a class of 254 characters",
    { storage: { storageClassName: "x".repeat(254) } },
    "spec.storage.storageClassName",
    /may not be more than 253/,
  ],
]);

const bootstrap: readonly BadSpec[] = inSpec([
  ["a database with a dash", { bootstrap: { databaseName: "my-app" } }, "spec.bootstrap.databaseName", aPostgresName],
  ["a database in upper case", { bootstrap: { databaseName: "App" } }, "spec.bootstrap.databaseName", aPostgresName],
  ["a database with a digit in front", { bootstrap: { databaseName: "1app" } }, "spec.bootstrap.databaseName", aPostgresName],
  ["a database with a quote", { bootstrap: { databaseName: 'a"; DROP' } }, "spec.bootstrap.databaseName", aPostgresName],
  [
    "a database that is there already",
    { bootstrap: { databaseName: "template1" } },
    "spec.bootstrap.databaseName",
    /PostgreSQL has itself/,
  ],
  ["the superuser as owner", { bootstrap: { ownerName: "postgres" } }, "spec.bootstrap.ownerName", /PostgreSQL has itself/],
  ["a system role as owner", { bootstrap: { ownerName: "pg_monitor" } }, "spec.bootstrap.ownerName", /PostgreSQL has itself.*pg_/],
  ["an empty database", { bootstrap: { databaseName: "" } }, "spec.bootstrap.databaseName", /at least 1 chars long/],
  ["a database of 64 characters", { bootstrap: { databaseName: "x".repeat(64) } }, "spec.bootstrap.databaseName", /not be more than 63/],
  ["an owner with a dot", { bootstrap: { ownerName: "app.owner" } }, "spec.bootstrap.ownerName", aPostgresName],
  ["an owner that is a number", { bootstrap: { ownerName: 7 } }, "spec.bootstrap.ownerName", /must be of type string/],
  ["an owner of 64 characters", { bootstrap: { ownerName: "x".repeat(64) } }, "spec.bootstrap.ownerName", /not be more than 63/],
  ["an extension twice", { bootstrap: { extensions: ["pgcrypto", "pgcrypto"] } }, "spec.bootstrap.extensions[1]", /Duplicate value/],
  [
    "an extension with a semicolon",
    { bootstrap: { extensions: ["pgcrypto;"] } },
    "spec.bootstrap.extensions[0]",
    /must be the name of an ext/,
  ],
  ["an empty extension", { bootstrap: { extensions: [""] } }, "spec.bootstrap.extensions[0]", /at least 1 chars long/],
  ["65 extensions", { bootstrap: { extensions: many(65) } }, "spec.bootstrap.extensions", /must have at most 64 items/],
  ["extensions that are a string", { bootstrap: { extensions: "pgcrypto" } }, "spec.bootstrap.extensions", /must be of type array/],
  [
    "a script from nowhere",
    { bootstrap: { scripts: [{}] } },
    "spec.bootstrap.scripts[0]",
    /needs exactly one of configMapKeyRef, secretKeyRef/,
  ],
  [
    "a script from two places",
    { bootstrap: { scripts: [{ configMapKeyRef: { name: "a", key: "b" }, secretKeyRef: { name: "a", key: "b" } }] } },
    "spec.bootstrap.scripts[0]",
    /needs exactly one of configMapKeyRef, secretKeyRef/,
  ],
  [
    "a script without a key",
    { bootstrap: { scripts: [{ configMapKeyRef: { name: "a" } }] } },
    "spec.bootstrap.scripts[0].configMapKeyRef.key",
    /Required value/,
  ],
  [
    "a script without a name",
    { bootstrap: { scripts: [{ secretKeyRef: { key: "a" } }] } },
    "spec.bootstrap.scripts[0].secretKeyRef.name",
    /Required value/,
  ],
  [
    "a script whose key has a slash",
    { bootstrap: { scripts: [{ secretKeyRef: { name: "a", key: "a/b" } }] } },
    "spec.bootstrap.scripts[0].secretKeyRef.key",
    /must be a key of a Secret or ConfigMap: letters, digits, -, _ and \. in it/,
  ],
  [
    "a script whose ConfigMap is in upper case",
    { bootstrap: { scripts: [{ configMapKeyRef: { name: "A", key: "a" } }] } },
    "spec.bootstrap.scripts[0].configMapKeyRef.name",
    anObjectName,
  ],
  [
    "33 scripts",
    { bootstrap: { scripts: many(33).map((name) => ({ secretKeyRef: { name, key: "a" } })) } },
    "spec.bootstrap.scripts",
    /must have at most 32 items/,
  ],
]);

const switches: readonly BadSpec[] = inSpec([
  ["a power state in lower case", { powerState: "running" }, "spec.powerState", orOf("Running", "Hibernated")],
  ["a power state Off", { powerState: "Off" }, "spec.powerState", orOf("Running", "Hibernated")],
  ["a power state on as YAML reads it", { powerState: true }, "spec.powerState", /must be of type string/],
  ["a snapshot without backup", { deletionPolicy: "Snapshot" }, "spec.deletionPolicy", /deletionPolicy: Snapshot needs backup/],
  ["a deletion policy in lower case", { deletionPolicy: "delete" }, "spec.deletionPolicy", orOf("Snapshot", "Retain", "Delete")],
  ["an empty deletion policy", { deletionPolicy: "" }, "spec.deletionPolicy", orOf("Snapshot", "Retain", "Delete")],
  ["protection in quotes", { deletionProtection: "true" }, "spec.deletionProtection", booleans],
  ["protection that is a number", { deletionProtection: 1 }, "spec.deletionProtection", booleans],
  ["paused in quotes", { paused: "yes" }, "spec.paused", booleans],
]);

export const badSampleDBs: readonly BadSpec[] = [...names, ...version, ...replicas, ...storage, ...bootstrap, ...switches];

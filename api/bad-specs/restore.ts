// Bad Restores.
import { type BadSpec, inSpec } from "./bad-spec.ts";
import { s3Fields } from "./bases.ts";

const aSampleDBName = /must start with a letter, end with a letter or digit, and have only a-z, 0-9 and - in it/;
const anObjectName = /must be the name of an object: a-z, 0-9, - and \. in it/;
const oneSource = /source needs exactly one of backupName, sampleDBName, repository/;
const onePlace = /source\.repository needs exactly one of volumeClaimName, s3/;

const sources: readonly BadSpec[] = inSpec([
  ["no source", { source: null }, "spec.source", /Required value/],
  ["a source that names nothing", { source: { sampleDBName: null } }, "spec.source", oneSource],
  ["a Backup and a SampleDB", { source: { backupName: "full" } }, "spec.source", oneSource],
  ["a SampleDB and a repository", { source: { repository: { stanza: "a", volumeClaimName: "b" } } }, "spec.source", oneSource],
  ["a Backup in upper case", { source: { sampleDBName: null, backupName: "Full" } }, "spec.source.backupName", anObjectName],
  ["a SampleDB with a dot", { source: { sampleDBName: "a.b" } }, "spec.source.sampleDBName", aSampleDBName],
  [
    "a SampleDB of 41 characters",
    { source: { sampleDBName: "x".repeat(41) } },
    "spec.source.sampleDBName",
    /may not be more than 40 bytes/,
  ],
  ...repositories([
    ["a repository nowhere", { stanza: "a" }, "", onePlace],
    ["a repository in two places", { stanza: "a", volumeClaimName: "b", s3: s3Fields }, "", onePlace],
    ["no stanza", { volumeClaimName: "b" }, ".stanza", /Required value/],
    ["a stanza with a slash", { volumeClaimName: "b", stanza: "../a" }, ".stanza", /must be the name of a folder in the repository/],
    ["a claim in upper case", { volumeClaimName: "B", stanza: "a" }, ".volumeClaimName", anObjectName],
    [
      "an endpoint over http",
      { stanza: "a", s3: { ...s3Fields, endpoint: "http://s3.example.com" } },
      ".s3.endpoint",
      /must be https:\/\//,
    ],
    ["S3 with nothing in it", { stanza: "a", s3: {} }, ".s3.bucket", /Required value/],
    ["a passphrase in upper case", { stanza: "a", volumeClaimName: "b", encryptionSecretName: "A" }, ".encryptionSecretName", anObjectName],
  ]),
]);

function repositories(entries: readonly BadSpec[]): readonly BadSpec[] {
  return entries.map(([title, repository, field, allowed]) => [
    title,
    { source: { sampleDBName: null, repository } },
    `spec.source.repository${field}`,
    allowed,
  ]);
}

const only = (field: string, type: string) => new RegExp(`target\\.${field} goes with target\\.type: ${type}, and with no other`);
const aTime = /must be a time with its zone, such as 2026-11-16T03:00:00Z/;
const aNumber = /must be a whole number of 64 bits in quotes/;
const aPlace = /must be a place in the write-ahead log as PostgreSQL prints it, such as 0\/16B3748/;

const targets: readonly BadSpec[] = inSpec(
  (
    [
      [
        "a type in lower case",
        { type: "latest" },
        ".type",
        /supported values: "Latest", "Time", "LSN", "TransactionID", "RestorePoint", "Immediate"/,
      ],
      ["Time without a time", { type: "Time" }, ".time", only("time", "Time")],
      ["a time without type Time", { time: "2026-11-16T03:00:00Z" }, ".time", only("time", "Time")],
      ["LSN without one", { type: "LSN" }, ".lsn", only("lsn", "LSN")],
      ["an LSN with type Immediate", { type: "Immediate", lsn: "0/1" }, ".lsn", only("lsn", "LSN")],
      ["TransactionID without one", { type: "TransactionID" }, ".transactionID", only("transactionID", "TransactionID")],
      ["a transaction with type Latest", { type: "Latest", transactionID: "7" }, ".transactionID", only("transactionID", "TransactionID")],
      ["RestorePoint without one", { type: "RestorePoint" }, ".restorePoint", only("restorePoint", "RestorePoint")],
      [
        "a restore point with type LSN",
        { type: "LSN", lsn: "0/1", restorePoint: "a" },
        ".restorePoint",
        only("restorePoint", "RestorePoint"),
      ],
      ["a time and an LSN", { type: "Time", time: "2026-11-16T03:00:00Z", lsn: "0/1" }, ".lsn", only("lsn", "LSN")],
      ["a time without a zone", { type: "Time", time: "2026-11-16T03:00:00" }, ".time", aTime],
      ["a time with a space", { type: "Time", time: "2026-11-16 03:00:00Z" }, ".time", aTime],
      ["a day without a time", { type: "Time", time: "2026-11-16" }, ".time", aTime],
      ["the 30th of February", { type: "Time", time: "2026-02-30T03:00:00Z" }, ".time", aTime],
      ["the 25th hour", { type: "Time", time: "2026-11-16T25:00:00Z" }, ".time", aTime],
      ["a zone by name", { type: "Time", time: "2026-11-16T03:00:00 Europe/Berlin" }, ".time", aTime],
      ["yesterday", { type: "Time", time: "yesterday" }, ".time", aTime],
      ["a time that is a number", { type: "Time", time: 1_763_262_000 }, ".time", /must be of type string/],
      ["an LSN in lower case", { type: "LSN", lsn: "0/16b3748" }, ".lsn", aPlace],
      ["an LSN without a slash", { type: "LSN", lsn: "16B3748" }, ".lsn", aPlace],
      ["an LSN with nine digits", { type: "LSN", lsn: "0/123456789" }, ".lsn", aPlace],
      ["an LSN of letters", { type: "LSN", lsn: "X/YZ" }, ".lsn", aPlace],
      ["an LSN that is too short", { type: "LSN", lsn: "0/" }, ".lsn", /at least 3 chars long/],
      ["a transaction that is a number", { type: "TransactionID", transactionID: 4711 }, ".transactionID", /must be of type string/],
      ["a negative transaction", { type: "TransactionID", transactionID: "-1" }, ".transactionID", aNumber],
      ["a transaction in hexadecimal", { type: "TransactionID", transactionID: "0xFF" }, ".transactionID", aNumber],
      ["a transaction with zeros in front", { type: "TransactionID", transactionID: "007" }, ".transactionID", aNumber],
      [
        "a transaction of 65 bits",
        { type: "TransactionID", transactionID: "18446744073709551616" },
        ".transactionID",
        /at most 18446744073709551615/,
      ],
      [
        "a transaction of 21 digits",
        { type: "TransactionID", transactionID: "1".repeat(21) },
        ".transactionID",
        /may not be more than 20 bytes/,
      ],
      ["an empty restore point", { type: "RestorePoint", restorePoint: "" }, ".restorePoint", /at least 1 chars long/],
      ["a restore point on two lines", { type: "RestorePoint", restorePoint: "a\nb" }, ".restorePoint", /on one line/],
      [
        "a restore point of 64 characters",
        { type: "RestorePoint", restorePoint: "x".repeat(64) },
        ".restorePoint",
        /may not be more than 63 bytes/,
      ],
      ["timeline 0", { timeline: 0 }, ".timeline", /greater than or equal to 1/],
      ["a timeline of 33 bits", { timeline: 2 ** 32 }, ".timeline", /less than or equal to 4294967295/],
      ["a timeline in quotes", { timeline: "2" }, ".timeline", /must be of type integer/],
    ] satisfies readonly BadSpec[]
  ).map(([title, target, field, allowed]) => [title, { target }, `spec.target${field}`, allowed] as const),
);

const overridden = "spec.destination.overrides";

const destinations: readonly BadSpec[] = inSpec([
  ["no destination", { destination: null }, "spec.destination", /Required value/],
  ["a destination without a type", { destination: { type: null } }, "spec.destination.type", /Required value/],
  ["a type in lower case", { destination: { type: "new" } }, "spec.destination.type", /supported values: "New", "InPlace"/],
  ["a destination without a SampleDB", { destination: { sampleDBName: null } }, "spec.destination.sampleDBName", /Required value/],
  ["a destination with a digit in front", { destination: { sampleDBName: "2nd" } }, "spec.destination.sampleDBName", aSampleDBName],
  [
    "a destination of 41 characters",
    { destination: { sampleDBName: "x".repeat(41) } },
    "spec.destination.sampleDBName",
    /not be more than 40/,
  ],
  ["overrides in place", { destination: { type: "InPlace", overrides: { replicas: 1 } } }, overridden, /goes with destination\.type: New/],
  ["no replica", { destination: { overrides: { replicas: 0 } } }, `${overridden}.replicas`, /greater than or equal to 1/],
  ["ten replicas", { destination: { overrides: { replicas: 10 } } }, `${overridden}.replicas`, /less than or equal to 9/],
  ["a size in GB", { destination: { overrides: { storage: { size: "4GB" } } } }, `${overridden}.storage.size`, /must be a size above zero/],
  [
    "a class with a space",
    { destination: { overrides: { storage: { storageClassName: "a b" } } } },
    `${overridden}.storage.storageClassName`,
    anObjectName,
  ],
  [
    "a negative limit",
    { destination: { overrides: { resources: { limits: { cpu: -1 } } } } },
    `${overridden}.resources.limits[cpu]`,
    /must be a quantity of zero or more/,
  ],
  [
    "a node label with a space",
    { destination: { overrides: { nodeSelector: { disk: "s s d" } } } },
    `${overridden}.nodeSelector[disk]`,
    /must be the value of a label/,
  ],
]);

export const badRestores: readonly BadSpec[] = [
  ["no spec", { spec: null }, "spec", /Required value/],
  ...sources,
  ...targets,
  ...destinations,
];

// SampleDB: a PostgreSQL database with its replicas, volumes and schedule of backups.
import * as z from "zod";
import { deletionPolicies } from "./deletion-policy.ts";
import { annotations, atomicList, bounded, dataKey, labels, listMap, objectName, setList, size } from "./fields.ts";
import { affinity, imagePullSecrets, resources, tolerations, topologySpreadConstraints } from "./pod-fields.ts";
import { repository } from "./repository.ts";
import { exactlyOne, spelled, unchanging, withRules } from "./rules.ts";

/** From the oldest to the newest. */
export const majors = [15, 17] as const;

const storage = withRules(
  z.object({
    size: size.describe("The size of each replica's data volume, such as `10Gi`. It may grow while the database serves; it never shrinks."),
    storageClassName: objectName
      .optional()
      .describe("The StorageClass of the data volumes; the cluster's default one when empty. It can't be changed."),
  }),
  {
    // The field's own rule refuses a size that is no quantity.
    rule: "!isQuantity(self.size) || quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0",
    message: "storage.size can't shrink; it may stay or grow",
    fieldPath: ".size",
  },
  unchanging("storageClassName", "storage.storageClassName can't be changed; make a new SampleDB and restore into it"),
);

const keyRef = (kind: string) =>
  z.object({
    name: objectName.describe(`The ${kind}'s name, in the SampleDB's namespace.`),
    key: dataKey.describe("The key that holds the SQL."),
  });

/** A PostgreSQL name that is free: not one that every server has. */
const identifier = (taken: readonly string[], what: string) =>
  withRules(
    spelled(
      z.string().min(1).max(63),
      /^[a-z_][a-z0-9_]*$/,
      "must be a PostgreSQL name that needs no quotes: a-z, 0-9 and _ in it, no digit in front",
    ).refine((name) => !name.startsWith("pg_") && !taken.includes(name)),
    {
      rule: `!self.startsWith('pg_') && !(self in [${taken.map((name) => `'${name}'`).join(", ")}])`,
      message: `must not be one that PostgreSQL has itself (${taken.join(", ")}, pg_…)`,
    },
  ).describe(what);

const bootstrap = withRules(
  z.object({
    databaseName: identifier(
      ["postgres", "template0", "template1"],
      "The database that is made for the application. It can't be changed.",
    ).default("app"),
    ownerName: identifier(
      ["postgres", "public", "none", "replication", "monitor"],
      "The role that owns it, whose password is in the application's Secret. It can't be changed.",
    ).default("app"),
    extensions: setList(
      z
        .array(
          spelled(
            z.string().min(1).max(63),
            /^[a-z][-_a-z0-9]*$/,
            "must be the name of an extension: a-z, 0-9, - and _ in it, a letter in front",
          ),
        )
        .max(64),
    )
      .optional()
      .describe("Extensions that are made in that database, such as `pg_stat_statements`."),
    scripts: atomicList(
      z
        .array(
          withRules(
            z.object({
              configMapKeyRef: keyRef("ConfigMap").optional().describe("SQL from a ConfigMap."),
              secretKeyRef: keyRef("Secret").optional().describe("SQL from a Secret."),
            }),
            exactlyOne(["configMapKeyRef", "secretKeyRef"], "each of bootstrap.scripts"),
          ),
        )
        .max(32),
    )
      .optional()
      .describe(
        "SQL that is run once, in this order, by the owner in the database. A script that fails is told in the condition and tried again when it changes.",
      ),
  }),
  {
    rule: "self.databaseName == oldSelf.databaseName",
    message: "bootstrap.databaseName can't be changed; rename it with SQL",
    fieldPath: ".databaseName",
  },
  {
    rule: "self.ownerName == oldSelf.ownerName",
    message: "bootstrap.ownerName can't be changed; rename it with SQL",
    fieldPath: ".ownerName",
  },
);

const parameterValue = withRules(z.union([z.int(), z.string().max(2048)]), {
  rule: `type(self) != int || (self >= ${Number.MIN_SAFE_INTEGER} && self <= ${Number.MAX_SAFE_INTEGER})`,
  message: "must be a string or a whole number of at most 53 bits; put larger ones in quotes",
});

const postgresql = z.object({
  parameters: bounded(z.record(z.string(), parameterValue), 256)
    .optional()
    .describe(
      'Settings of postgresql.conf, such as `work_mem: 64MB`. Names and ranges are those of the major version; names with a dot are an extension\'s. Put `"on"` and `"off"` in quotes: YAML reads them as true and false. Changes are reloaded, or restart the instances one after the other where PostgreSQL needs it.',
    ),
  hba: atomicList(
    z.array(spelled(z.string().min(1).max(512), /^[^\r\n]+$/, "must be one line of pg_hba.conf, without a line break")).max(64),
  )
    .optional()
    .describe(
      "Lines of pg_hba.conf, such as `hostssl all all 10.0.0.0/8 scram-sha-256`. They come after those that the operator needs for itself.",
    ),
});

const service = (what: string) =>
  z.object({
    type: z.enum(["ClusterIP", "NodePort", "LoadBalancer"]).default("ClusterIP").describe("How the Service is reached."),
    annotations: annotations
      .optional()
      .describe(`Annotations of the Service for ${what}, such as those that a cloud's load balancer reads.`),
  });

const schedule = z.object({
  name: spelled(
    z.string().min(1).max(20),
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    "must be a name of a-z, 0-9 and -, with a letter or digit at both ends",
  ).describe("The schedule's name; part of the names of its Backups."),
  schedule: z
    .string()
    .min(1)
    .max(128)
    .describe("When, as in a CronJob: `0 3 * * *` is each day at three. Day of month and weekday together mean either."),
  timeZone: z.string().min(1).max(64).optional().describe("The time zone of the schedule, such as `Europe/Berlin`; UTC when empty."),
  type: z
    .enum(["Full", "Differential", "Incremental"])
    .default("Full")
    .describe("All of it, what changed since the last full one, or what changed since the last one."),
  suspend: z.boolean().default(false).describe("Makes no more Backups while true."),
  startingDeadlineSeconds: z
    .int()
    .min(1)
    .max(604_800)
    .default(3600)
    .describe("A slot that was missed by more than this many seconds is left out. Of several missed ones only the last is made up for."),
});

const backup = withRules(
  z.object({
    repository: repository.optional().describe("Where backups lie; a volume of twice the data volume's size when empty."),
    encryptionSecretName: objectName
      .optional()
      .describe(
        "The Secret whose key `passphrase` encrypts the repository. Without it nobody can read the backups. It can't be added, changed or removed while the repository is in use.",
      ),
    schedules: listMap(z.array(schedule).max(16), "name").optional().describe("When Backups are made by themselves."),
    retention: z
      .object({
        fullBackupCount: z
          .int()
          .min(1)
          .max(1000)
          .default(2)
          .describe(
            "How many full backups are kept, with all that build on them. Backups with deletionPolicy Retain stay as well, and do not count.",
          ),
        periodDays: z
          .int()
          .min(1)
          .max(3650)
          .optional()
          .describe("For how many days back every moment can be restored: what that needs is kept."),
      })
      .default({ fullBackupCount: 2 })
      .describe(
        "What is kept of the Backups with deletionPolicy Delete. One stays while either rule keeps it, and the last good one always stays.",
      ),
  }),
  unchanging(
    "encryptionSecretName",
    "backup.encryptionSecretName can't be added, changed or removed under a repository in use; remove backup first, and set it up anew",
  ),
  {
    rule: [
      "has(self.repository) == has(oldSelf.repository)",
      "(!has(self.repository) || (has(self.repository.s3) == has(oldSelf.repository.s3)",
      "(!has(self.repository.s3) || (self.repository.s3.endpoint == oldSelf.repository.s3.endpoint && self.repository.s3.bucket == oldSelf.repository.s3.bucket",
      "has(self.repository.s3.prefix) == has(oldSelf.repository.s3.prefix)",
      "(!has(self.repository.s3.prefix) || self.repository.s3.prefix == oldSelf.repository.s3.prefix)))))",
    ].join(" && "),
    message:
      "backup.repository can't move while it is in use (volume, s3, endpoint, bucket and prefix stay); remove backup first, and set it up anew",
    fieldPath: ".repository",
  },
);

/** In CEL: the size of the repository's volume. The default is twice the data volume's. */
function repositorySize(spec: "self" | "oldSelf"): string {
  const volume = `${spec}.backup.repository.volume`;
  const told = `has(${spec}.backup.repository) && has(${volume}) && has(${volume}.size) && isQuantity(${volume}.size)`;
  return `(${told} ? quantity(${volume}.size) : quantity(${spec}.storage.size).add(quantity(${spec}.storage.size)))`;
}

export const sampleDBSpec = withRules(
  z.object({
    postgresVersion: z
      .literal(majors)
      .describe("The major version of PostgreSQL. Raising it is an upgrade; it can be lowered only back to the major that the data is of."),
    image: spelled(
      z.string().min(1).max(512),
      /^[a-z0-9][-a-zA-Z0-9._/:@]*$/,
      "must be the name of an image with its tag or digest, such as registry.example.com/team/postgres:17",
    )
      .optional()
      .describe("An image in place of the operator's own one for the major, with the same major in it."),
    replicas: z.int().min(1).max(9).default(1).describe("How many instances: one primary and the rest its replicas."),
    storage: storage.describe("The data volume of each instance."),
    resources: resources.optional().describe("CPU and memory of each instance. A change restarts them one after the other."),
    nodeSelector: labels.optional().describe("Labels that a node must have."),
    affinity: affinity.optional().describe("Where instances may and should run, as in a Pod."),
    tolerations: tolerations.optional().describe("Taints of nodes that instances put up with, as in a Pod."),
    topologySpreadConstraints: topologySpreadConstraints
      .optional()
      .describe("How instances are spread, as in a Pod; over nodes by default."),
    priorityClassName: objectName.optional().describe("The PriorityClass of the Pods."),
    imagePullSecrets: imagePullSecrets.optional().describe("Secrets with which images are pulled."),
    podMetadata: z
      .object({
        labels: labels.optional().describe("Labels that are added to the Pods. The operator's own can't be replaced."),
        annotations: annotations.optional().describe("Annotations that are added to the Pods."),
      })
      .optional()
      .describe("What is added to the metadata of the Pods."),
    postgresql: postgresql.optional().describe("Settings of PostgreSQL."),
    synchronousReplication: z
      .enum(["Disabled", "Preferred", "Required"])
      .default("Disabled")
      .describe(
        "Whether a commit waits for replicas, so many that it is on a majority of the instances. `Preferred` waits while there are any. `Required` never goes on alone: no acknowledged commit is lost, and without a replica writes wait; it needs 2 replicas or more.",
      ),
    bootstrap: bootstrap.default({ databaseName: "app", ownerName: "app" }).describe("What is made once, in a new database."),
    services: z
      .object({
        readWrite: service("the primary").optional().describe("The Service that leads to the primary."),
        readOnly: service("the replicas").optional().describe("The Service that leads to the replicas."),
      })
      .optional()
      .describe("The Services that applications connect to."),
    powerState: z
      .enum(["Running", "Hibernated"])
      .default("Running")
      .describe("`Hibernated` stops all instances and keeps their volumes; `Running` starts them again, the last primary first."),
    // Without a default in the schema: what "not said" means depends on `backup` (deletion-policy.ts), and may be set or removed later.
    deletionPolicy: z
      .enum(deletionPolicies)
      .optional()
      .describe(
        "What happens to the data when the SampleDB is deleted. `Snapshot` makes a last Backup, checks it, and then removes the volumes: a Restore brings everything back. `Retain` keeps volumes and passwords, and a new SampleDB of that name takes them up. `Delete` destroys them. When empty: `Snapshot` with `backup`, else `Retain`. It may be changed while the deletion is under way. While it is not `Delete`, the namespace can't be deleted.",
      ),
    deletionProtection: z
      .boolean()
      .default(false)
      .describe("Refuses the deletion of the SampleDB, and of the namespace that it is in, while true; also while no operator runs."),
    paused: z.boolean().default(false).describe("The operator leaves everything alone while true. The database serves on."),
    backup: backup.optional().describe("Backups and the archive of the write-ahead log. None are made when empty."),
  }),
  {
    rule: "self.synchronousReplication != 'Required' || self.replicas >= 2",
    message: "synchronousReplication: Required needs replicas: 2 or more; use Preferred for a single one",
    fieldPath: ".replicas",
  },
  {
    rule: "!has(self.deletionPolicy) || self.deletionPolicy != 'Snapshot' || has(self.backup)",
    message: "deletionPolicy: Snapshot needs backup: the last Backup has to lie somewhere; set backup, or use Retain",
    fieldPath: ".deletionPolicy",
  },
  {
    rule: `!has(self.backup) || !has(oldSelf.backup) || !isQuantity(self.storage.size) || ${repositorySize("self")}.compareTo(${repositorySize("oldSelf")}) >= 0`,
    message: "backup.repository.volume.size can't shrink; it may stay or grow (when empty it is twice storage.size)",
    fieldPath: ".backup",
  },
);

export type SampleDBSpec = z.output<typeof sampleDBSpec>;

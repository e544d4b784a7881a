// The place of backups: a volume of the cluster or an S3 bucket.
import * as z from "zod";
import { objectName, size } from "./fields.ts";
import { exactlyOne, spelled, unchanging, withRules } from "./rules.ts";

const port = "([1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])";

export const s3 = z.object({
  endpoint: spelled(
    z.string().min(1).max(512),
    new RegExp(`^https://[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:${port})?$`),
    "must be https:// with a host and at most a port from 1 to 65535, without a path, such as https://s3.example.com:9000",
  ).describe("Where the store answers, such as `https://s3.example.com:9000`. Only https: pgBackRest takes nothing else."),
  region: spelled(
    z.string().min(1).max(64),
    /^[-_.a-zA-Z0-9]+$/,
    "must be the name of a region such as us-east-1: letters, digits, -, _ and .",
  ).describe("The region, such as `us-east-1`. Stores that have none take any word."),
  bucket: spelled(
    z.string().min(3).max(63),
    /^[a-z0-9][-.a-z0-9]*[a-z0-9]$/,
    "must be the name of a bucket: a-z, 0-9, - and . in it, a letter or digit at both ends",
  ).describe("The bucket. It must exist."),
  prefix: spelled(
    z.string().max(256),
    /^[.]*[-_a-zA-Z0-9][-_.a-zA-Z0-9]*(\/[.]*[-_a-zA-Z0-9][-_.a-zA-Z0-9]*)*$/,
    "must be folders such as databases/orders: letters, digits, -, _ and . between slashes, no slash at its ends, and no folder of dots alone",
  )
    .optional()
    .describe(
      "A folder in the bucket, without slashes at its ends. The operator adds folders of its own below it, so SampleDBs may share one.",
    ),
  uriStyle: z
    .enum(["Host", "Path"])
    .default("Host")
    .describe("Whether the bucket is part of the host name (`Host`) or of the path (`Path`, which most stores other than AWS want)."),
  credentialsSecretName: objectName.describe(
    "The Secret with the keys `accessKeyId` and `secretAccessKey`. It is read for each run: a rotated key is used by the next one.",
  ),
  caSecretName: objectName
    .optional()
    .describe("The Secret whose key `ca.crt` has the certificate authority of the store, where it is not a public one."),
});

const volume = withRules(
  z.object({
    size: size.optional().describe("The size of the volume; twice the data volume's by default. It may grow, never shrink."),
    storageClassName: objectName.optional().describe("The StorageClass; the cluster's default one when empty. It can't be changed."),
  }),
  unchanging("storageClassName", "backup.repository.volume.storageClassName can't be changed; remove backup first, and set it up anew"),
);

/** The repository of a SampleDB: the operator creates the volume, or uses the bucket. */
export const repository = withRules(
  z.object({
    volume: volume.optional().describe("Backups lie on a volume of this cluster. Losing the cluster loses them: S3 is safer."),
    s3: s3.optional().describe("Backups lie in an S3 bucket."),
  }),
  exactlyOne(["volume", "s3"], "backup.repository"),
);

// A valid object of each kind, which the bad specs change.
import { apiVersion } from "../version.ts";
import type { Fields } from "./bad-spec.ts";

export const s3Fields: Fields = {
  endpoint: "https://s3.example.com",
  region: "us-east-1",
  bucket: "backups",
  credentialsSecretName: "s3-keys",
};

export const sampleDB: Fields = {
  apiVersion,
  kind: "SampleDB",
  metadata: { name: "valid" },
  spec: { postgresVersion: 17, storage: { size: "1Gi" } },
};

export const backup: Fields = { apiVersion, kind: "Backup", metadata: { name: "valid" }, spec: { sampleDBName: "orders" } };

export const restore: Fields = {
  apiVersion,
  kind: "Restore",
  metadata: { name: "valid" },
  spec: { source: { sampleDBName: "orders" }, destination: { type: "New", sampleDBName: "copy" } },
};

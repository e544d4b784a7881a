// The operator's own kinds, as the runtime's client and cache take them.
import type { BackupSpec, BackupStatus } from "../../api/backup.ts";
import type { RestoreSpec, RestoreStatus } from "../../api/restore.ts";
import type { SampleDBSpec } from "../../api/sampledb.ts";
import type { SampleDBStatus } from "../../api/sampledb-status.ts";
import { apiVersion } from "../../api/version.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { namespaced } from "../../runtime/kube/resource.ts";

interface Kind<Spec, Status> extends KubeObject {
  readonly spec: Spec;
  readonly status?: Status;
}

export type SampleDB = Kind<SampleDBSpec, SampleDBStatus>;
export type Backup = Kind<BackupSpec, BackupStatus>;
export type Restore = Kind<RestoreSpec, RestoreStatus>;

export const sampledbs = namespaced<SampleDB>(apiVersion, "SampleDB", "sampledbs");
export const backups = namespaced<Backup>(apiVersion, "Backup", "backups");
export const restores = namespaced<Restore>(apiVersion, "Restore", "restores");

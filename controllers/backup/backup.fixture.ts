// For tests: Backups, and the last words of their Jobs.
import { apiVersion } from "../../api/version.ts";
import type { Backup } from "../kinds/sampledb-io.ts";

export const created = "2026-05-04T12:00:00Z";

export function backup(name: string, more: Partial<Pick<Backup, "status" | "spec">> & { readonly metadata?: object } = {}): Backup {
  return {
    apiVersion,
    kind: "Backup",
    metadata: { name, namespace: "shop", uid: `uid-of-${name}`, creationTimestamp: created, generation: 1, ...more.metadata },
    spec: { sampleDBName: "orders", type: "Full", deletionPolicy: "Retain", ...more.spec },
    ...(more.status ? { status: more.status } : {}),
  } as Backup;
}

export function ended(status: "True" | "False", more: object = {}): NonNullable<Backup["status"]> {
  const reason = status === "True" ? "BackupSucceeded" : "BackupFailed";
  return { conditions: [{ type: "Succeeded", status, reason, message: "", lastTransitionTime: created }], ...more };
}

export const succeeded = {
  outcome: "succeeded",
  label: "20260504-120000F",
  type: "full",
  source: "orders-1.orders-pods.shop.svc",
  startTime: "2026-05-04T12:00:10Z",
  stopTime: "2026-05-04T12:00:20Z",
  databaseBytes: 30_000_000,
  copiedBytes: 20_000_000,
  repositoryBytes: 4_000_000,
  copySeconds: 10,
  startLSN: "0/2000028",
  stopLSN: "0/2000100",
  firstWAL: "000000010000000000000002",
  lastWAL: "000000010000000000000002",
  timeline: 1,
  systemIdentifier: "7550000000000000001",
  postgresVersion: "17",
  verification: { time: "2026-05-04T12:00:25Z", walComplete: true, checksumsGood: true, seconds: 5 },
} as const;

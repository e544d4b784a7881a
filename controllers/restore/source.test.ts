// Given a Backup: from which place and into what a Restore restores.
import { expect, test } from "vitest";
import { apiVersion } from "../../api/version.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { Backup, Restore } from "../kinds/sampledb-io.ts";
import { findSource } from "./source.ts";

const stanza = "0d1f7f6e-6f3e-4b57-9f0c-1f2f3a4b5c6d-17-1";
const s3 = { endpoint: "https://s3.example.com", region: "eu", bucket: "backups", credentialsSecretName: "keys" } as const;
const services = {
  readWrite: { type: "LoadBalancer", annotations: { "external-dns.alpha.kubernetes.io/hostname": "orders.example.com" } },
} as const;
const good = {
  type: "Succeeded",
  status: "True",
  reason: "BackupSucceeded",
  message: "",
  lastTransitionTime: "2026-05-04T12:00:00Z",
} as const;
const spec = { ...sampleDB({ services, backup: { repository: { s3 } } }).spec };

const night: Backup = {
  apiVersion,
  kind: "Backup",
  metadata: { namespace: "shop", name: "night" },
  spec: { sampleDBName: "orders", type: "Full", deletionPolicy: "Retain" },
  status: { conditions: [good], label: "20260504-120000F", repository: { stanza }, sampleDBSpec: spec },
} as Backup;

function servicesOf(destination: string, source: object, status: object = {}) {
  const restore = {
    apiVersion,
    kind: "Restore",
    metadata: { namespace: "shop", name: "back" },
    spec: { source, target: { type: "Latest" }, destination: { type: "New", sampleDBName: destination } },
    status,
  } as unknown as Restore;
  const seen = {
    restore,
    backup: "backupName" in source ? night : undefined,
    backups: [],
    claim: () => undefined,
    repositoryRuns: () => false,
  };
  const found = findSource(seen);
  if (found.kind !== "found") throw new Error(JSON.stringify(found));
  return found.spec.services;
}

test("a copy under another name has plain Services; an undelete under the old name has those of the source", () => {
  expect(servicesOf("copy", { backupName: "night" })).toBeUndefined();
  expect(servicesOf("orders", { backupName: "night" })).toEqual(services);
});

test("from a bucket alone, whose folder does not say the source's name, the Services are plain", () => {
  const repository = { s3: { ...s3, uriStyle: "Host", prefix: "shop/uid" }, stanza, sampleDBSpec: "FromRepository" };
  expect(servicesOf("orders", { repository }, { sampleDBSpec: spec })).toBeUndefined();
});

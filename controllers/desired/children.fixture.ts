// For tests: every object that the operator makes for a SampleDB.
import type { KubeObject } from "../../runtime/kube/object.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { role, roleBinding, serviceAccount } from "./access.ts";
import { authoritySecret, certificateSecret, repositorySecret } from "./certificates.ts";
import { dynamicConfig, patroniConfig, patroniStates } from "./configuration.ts";
import { applicationSecret, replicationSecret, superuserSecret } from "./credentials.ts";
import { initJob } from "./initialization.ts";
import { claim, statefulSet } from "./instances.ts";
import { mostInstances } from "./names.ts";
import { disruptionBudget } from "./policies.ts";
import { repositoryClaim, repositoryConfig, repositoryDeployment, repositoryService } from "./repository.ts";
import { nextPasswordSecret, rotationJob } from "./rotation.ts";
import { podsService, readOnlyService, readWriteService, readWriteSlice } from "./services.ts";
import { type Archived, isArchived } from "./store.ts";
import { trialJob, trialSettings } from "./trial.ts";

export const passwords = {
  superuser: "pw-of-superuser",
  replication: "pw-of-replication",
  application: "pw-of-application",
  next: "pw-of-rotation",
};
export const image = "registry.example.com/postgres:17";
export const keys = { authority: "key-of-authority", server: "key-of-server", repository: "key-of-repository" };

const kept = {
  bundle: "bundle",
  authorityKey: keys.authority,
  formerKey: "",
  trustedSince: "",
  certificate: "certificate",
  key: keys.server,
};

export function instancesOf(db: SampleDB) {
  const dataServer = isArchived(db) ? { image, client: "shop/orders/backup" } : undefined;
  const range = { start: 0, count: db.spec.replicas };
  return statefulSet(db, { range, image, dataServer, asked: "asked", proven: "proven", provenFor: "asked" });
}

export function secretsOf(db: SampleDB): KubeObject[] {
  return [
    superuserSecret(db, passwords.superuser),
    replicationSecret(db, passwords.replication),
    applicationSecret(db, passwords.application, "bundle"),
    nextPasswordSecret(db, passwords.next),
    certificateSecret(db, kept),
    repositorySecret(db, { ...kept, key: keys.repository }),
    authoritySecret(db, "operators", kept),
  ];
}

function repositoryOf(db: Archived): KubeObject[] {
  const clients = { server: "shop/orders/server", operator: "shop/orders/operator" };
  return [
    repositoryConfig(db, { generation: 1 }, clients),
    repositoryService(db),
    repositoryClaim(db),
    repositoryDeployment(db, { image, archive: { generation: 1 }, running: true }),
  ];
}

/** Every object but the Secrets. */
export function childrenOf(db: SampleDB): KubeObject[] {
  const budget = disruptionBudget(db, { prepared: true });
  return [
    ...[readWriteService(db), readWriteSlice(db, "IPv4"), readOnlyService(db), podsService(db)],
    ...[serviceAccount(db), role(db), roleBinding(db)],
    ...(budget ? [budget] : []),
    ...[
      patroniConfig(db),
      dynamicConfig(db, { since: "2026-01-01T00:00:00.000Z", initialized: true }),
      ...patroniStates(db),
      trialSettings(db, "digest"),
    ],
    ...[
      initJob(db, "digest", image),
      trialJob(db, { digest: "digest", image, asked: true, running: undefined }),
      rotationJob(db, nextPasswordSecret(db, passwords.next), image),
    ],
    ...(isArchived(db) ? repositoryOf(db) : []),
    instancesOf(db),
    ...Array.from({ length: mostInstances }, (_, ordinal) => claim(db, ordinal)),
  ];
}

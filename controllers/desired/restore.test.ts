import { expect, test } from "vitest";
import type { Restore } from "../kinds/sampledb-io.ts";
import { image } from "./children.fixture.ts";
import { repositorySelector } from "./repository.ts";
import { lookJob, restoreJob } from "./restore.ts";
import { sampleDB } from "./sampledb.fixture.ts";

const restore = { metadata: { namespace: "shop", name: "back", uid: "restore" }, spec: {} } as Restore;
const place = { s3: undefined, folder: "", claimName: "orders-repository", encryptionSecretName: undefined };
const source = { stanza: "uid-17-1", label: null, place, beside: undefined };
const expressions = [{ key: "topology.kubernetes.io/zone", operator: "In" as const, values: ["a"] }];
const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: expressions }] } };
const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname" }] };

/** Otherwise the volume could be made on a node where no instance may run. */
test("a Job that fills a volume goes by what the instances ask of a node, and not by what keeps them apart", () => {
  const db = sampleDB({ affinity: { nodeAffinity, podAntiAffinity: apart } });
  for (const job of [restoreJob(restore, db, source, { image, ordinal: 0 }), lookJob(restore, db, source, image)])
    expect(job.spec?.template.spec?.affinity).toEqual({ nodeAffinity });
});

test("beside a repository's Pod it goes by both", () => {
  const labelSelector = { matchLabels: repositorySelector({ metadata: { name: "orders" } }) };
  const required = [{ labelSelector, topologyKey: "kubernetes.io/hostname" }];
  const beside = { ...source, beside: "orders" };
  const affinityOf = (db: ReturnType<typeof sampleDB>) =>
    restoreJob(restore, db, beside, { image, ordinal: 0 }).spec?.template.spec?.affinity;
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
  expect(affinityOf(sampleDB({ affinity: { nodeAffinity } }))).toEqual({ nodeAffinity, podAffinity });
  expect(affinityOf(sampleDB())).toEqual({ podAffinity });
});

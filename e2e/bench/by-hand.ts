// The peer: the objects that the operator makes for a SampleDB, from the same builders, applied by hand in one go. Patroni and its
// callback need no operator, so it starts, serves and fails over; what it lacks is everything that the operator does afterwards.
import { randomBytes } from "node:crypto";
import { sampleDBSpec } from "../../api/sampledb.ts";
import { nothingKept, rotateCertificates } from "../../controllers/database/certificates.ts";
import { role, roleBinding, serviceAccount } from "../../controllers/desired/access.ts";
import { certificateSecret } from "../../controllers/desired/certificates.ts";
import { dynamicConfig, patroniConfig, patroniStates } from "../../controllers/desired/configuration.ts";
import { applicationSecret, replicationSecret, superuserSecret } from "../../controllers/desired/credentials.ts";
import { initJob } from "../../controllers/desired/initialization.ts";
import { statefulSet } from "../../controllers/desired/instances.ts";
import { disruptionBudget } from "../../controllers/desired/policies.ts";
import { podsService, readOnlyService, readWriteService, readWriteSlice } from "../../controllers/desired/services.ts";
import type { SampleDB } from "../../controllers/kinds/sampledb-io.ts";
import { postgresImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import type { sampleDB } from "../database/database.ts";

/**
 * A manifest for kubectl. No owner is in it: there is no SampleDB. The settings are those with which a database starts, where no commit
 * is lost from its first second on, or those with which it goes on: the operator changes from one to the other, and by hand nobody does.
 */
export async function byHand(manifest: ReturnType<typeof sampleDB>, namespace: string, settings: "first" | "final"): Promise<string> {
  const { apiVersion, kind, metadata, spec } = manifest;
  const db: SampleDB = { apiVersion, kind, metadata: { ...metadata, namespace, uid: "by-hand" }, spec: sampleDBSpec.parse(spec) };
  const image = imageReference(postgresImage("17"));
  const now = new Date();
  const { kept } = await rotateCertificates(nothingKept, { database: { namespace, name: metadata.name }, trusted: [], now });
  const password = () => randomBytes(24).toString("base64url");
  const objects: (KubeObject | undefined)[] = [
    ...[superuserSecret(db, password()), replicationSecret(db, password()), applicationSecret(db, password(), kept.bundle)],
    certificateSecret(db, kept),
    ...[serviceAccount(db), role(db), roleBinding(db)],
    ...[readWriteService(db), readOnlyService(db), podsService(db)],
    { ...readWriteSlice(db, "IPv4"), endpoints: [] } as KubeObject, // kubectl wants to see them
    disruptionBudget(db, { prepared: true }),
    ...[patroniConfig(db), dynamicConfig(db, { since: now.toISOString(), initialized: settings === "final" }), ...patroniStates(db)],
    statefulSet(db, { range: { start: 0, count: db.spec.replicas }, image, asked: "by-hand", proven: "by-hand", provenFor: "by-hand" }),
    initJob(db, "by-hand", image),
  ];
  const items = objects.flatMap((object) => (object ? [withoutOwner(object)] : []));
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

function withoutOwner({ metadata, ...rest }: KubeObject): object {
  const { ownerReferences: _, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

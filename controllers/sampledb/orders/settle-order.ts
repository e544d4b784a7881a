// Changes the annotation of an order: the operator notes its progress there, and removes it when the order is done or dropped.
import { sampledbs } from "../../kinds/sampledb-io.ts";
import type { Scope } from "../scope.ts";

/** Writes to the SampleDB as it was read: an order that a person gives meanwhile is not overwritten, and a later SampleDB of the name gets none. */
export async function settleOrder({ db, key, client }: Scope, annotation: string, value: string | null): Promise<void> {
  const { uid, resourceVersion } = db.metadata;
  await client.mergePatch(sampledbs, key, { metadata: { uid, resourceVersion, annotations: { [annotation]: value } } });
}

// Changes the annotation of an order: the operator notes its progress there, and removes it when the order is done or dropped.
import { sampledbs } from "../../kinds/sampledb-io.ts";
import type { Scope } from "../scope.ts";

/** Writes to this SampleDB, and never to a later one of its name. */
export async function settleOrder({ db, key, client }: Scope, annotation: string, value: string | null): Promise<void> {
  await client.mergePatch(sampledbs, key, { metadata: { uid: db.metadata.uid, annotations: { [annotation]: value } } });
}

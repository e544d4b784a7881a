// What a person has ordered by annotation is noted there as it goes on, and taken off when it is done or dropped.
import { sampledbs } from "../../kinds/sampledb-io.ts";
import type { Scope } from "../scope.ts";

/** On this SampleDB and no later one of its name. */
export async function settleOrder({ db, key, client }: Scope, annotation: string, value: string | null): Promise<void> {
  await client.mergePatch(sampledbs, key, { metadata: { uid: db.metadata.uid, annotations: { [annotation]: value } } });
}

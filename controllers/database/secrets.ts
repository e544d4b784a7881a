// Reads and writes the Secrets of a database. The operator does not watch them, so each write says what it was based on.
import { Occupied } from "../../runtime/controller/objects.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { AlreadyExists } from "../../runtime/kube/errors.ts";
import { keyOf, keyText } from "../../runtime/kube/object.ts";
import { belongsTo } from "../desired/identity.ts";
import { type Secret, secrets } from "../kinds/kubernetes.ts";

/** Returns the Secret that is there, or creates the given one. An existing Secret is never overwritten. */
export async function createOnce(client: KubeClient, secret: Secret, database: string): Promise<Secret> {
  const existing = await client.find(secrets, keyOf(secret));
  if (existing) {
    refuseForeign(existing, database);
    return existing;
  }
  try {
    return await client.create(secrets, secret);
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
    const made = await client.get(secrets, keyOf(secret)); // another replica of the operator was faster, or a user was
    refuseForeign(made, database);
    return made;
  }
}

/** Writes over the Secret that was read. The API server refuses the write when the Secret was changed or made since. */
export async function writeOver(client: KubeClient, before: Secret | undefined, secret: Secret): Promise<void> {
  if (!before) await client.create(secrets, secret);
  else await client.apply(secrets, { ...secret, metadata: { ...secret.metadata, resourceVersion: before.metadata.resourceVersion ?? "" } });
}

/** Throws for a Secret that the operator did not make for this database: the operator neither uses nor changes it. */
export function refuseForeign(secret: Secret, database: string): void {
  if (!belongsTo({ metadata: { name: database } }, secret))
    throw new Occupied(`Secret ${keyText(keyOf(secret))} is there already and was not made for SampleDB ${database}`);
}

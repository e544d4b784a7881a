// A bucket as a SampleDB names it: the fields of its repository, and the Secrets that they name.
import type { S3Store } from "./s3-store.ts";

export const keysSecret = "store-keys";
export const authoritySecret = "store-ca";

/** `spec.backup.repository.s3`; `endpoint` is where Pods reach the store. */
export function bucketFields(store: Pick<S3Store, "region">, endpoint: string, bucket: string) {
  const secrets = { credentialsSecretName: keysSecret, caSecretName: authoritySecret };
  return { endpoint, region: store.region, bucket, uriStyle: "Path" as const, ...secrets };
}

/** A new key of the bucket and the store's authority, to be applied in the SampleDB's namespace. */
export async function bucketSecrets(store: S3Store, bucket: string): Promise<object> {
  const { accessKeyId, secretAccessKey } = await store.addKey(bucket);
  const secret = (name: string, stringData: object) => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData });
  const items = [secret(keysSecret, { accessKeyId, secretAccessKey }), secret(authoritySecret, { "ca.crt": store.caCertificate })];
  return { apiVersion: "v1", kind: "List", items };
}

// An S3 store that Pods reach, for the length of a suite on the local cluster.
import { afterAll, beforeAll } from "vitest";
import type { Kubectl } from "../cluster/kubectl.ts";
import { bucketFields, bucketSecrets } from "../store/bucket.ts";
import { routeToPods, storeService } from "../store/in-cluster.ts";
import { S3Store } from "../store/s3-store.ts";
import { localCluster, suiteNamespace } from "./test-cluster.ts";

export interface SuiteStore {
  readonly store: S3Store;
  /** For Pods: the name of a Service, in a namespace of the store's own. */
  readonly url: string;
}

export const bucket = "backups";

/** MinIO may have to be built first. */
const startMs = 1_800_000;

/**
 * Called while a suite's file is loaded; what it returns is for its tests. Call it before the suite's own namespace is made: then the
 * databases go before the store that they archive to.
 */
export function suiteStore(): () => SuiteStore {
  const namespace = suiteNamespace("store");
  const host = `s3.${namespace.namespace}.svc`;
  let store: S3Store | undefined;
  beforeAll(async () => {
    const { plan } = localCluster();
    store = await S3Store.start({ address: plan.hostAddress, names: [host] });
    await routeToPods(plan);
    await namespace.apply(JSON.stringify(storeService("s3", store)));
  }, startMs);
  afterAll(() => store?.[Symbol.asyncDispose]());
  return () => {
    if (!store) throw new Error("the store is there for tests and hooks that come after it");
    return { store, url: `https://${host}` };
  };
}

/** `spec.backup` of a database in this namespace: a bucket, and Secrets with a new key of it. */
export async function backupTo({ store, url }: SuiteStore, namespace: Kubectl) {
  await store.makeBucket(bucket);
  await namespace.apply(JSON.stringify(await bucketSecrets(store, bucket)));
  return { repository: { s3: bucketFields(store, url, bucket) } };
}

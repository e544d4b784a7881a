// Makes the read-write Service lead to the primary alone. Patroni's callback does so at the promotion; this step mends what it missed.
import { done } from "../../../runtime/controller/steps.ts";
import { Conflict, NotFound } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { isAt } from "../../database/instance.ts";
import { leaderNow } from "../../database/view.ts";
import { endpointOf } from "../../desired/services.ts";
import { type Endpoint, type EndpointSlice, endpointSlices, type Pod, pods } from "../../kinds/kubernetes.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

export const writePath: SampleDBStep = async (scope) => {
  const { primary, instances, writeSlice } = scope.observed;
  if (!writeSlice) return done; // the step services makes it
  if (primary?.ready) {
    // The lock, the slice and the Pods come by different watches, and one of them may be behind.
    if (!primary.takesWrites && (await leaderNow(scope.db, scope.client)) === primary.podName)
      await leadTo(scope, writeSlice, primary.podName);
    return done;
  }
  const [endpoint] = writeSlice.endpoints ?? [];
  if (endpoint && !instances.some(({ takesWrites }) => takesWrites)) await leaveGone(scope, writeSlice, endpoint);
  return done;
};

async function leadTo(scope: Scope, slice: EndpointSlice, podName: string): Promise<void> {
  const pod = await podNow(scope, podName);
  const endpoint = pod && endpointOf(pod, slice.addressType);
  if (endpoint) await write(scope, slice, [endpoint]);
}

/** Removes the address of a Pod that is gone: Kubernetes may give the address to a stranger's Pod, which would get the writes. */
async function leaveGone(scope: Scope, slice: EndpointSlice, endpoint: Endpoint): Promise<void> {
  const pod = await podNow(scope, endpoint.targetRef?.name ?? "");
  if (!pod || !isAt(pod, endpoint)) await write(scope, slice, []);
}

async function podNow({ client, key: { namespace } }: Scope, name: string): Promise<Pod | undefined> {
  return await client.find(pods, { namespace, name });
}

/** Writes over the slice that was read only: a newer one is the callback's, which knows better than a cache that is behind. */
async function write({ client }: Scope, slice: EndpointSlice, endpoints: readonly Endpoint[]): Promise<void> {
  const { resourceVersion } = slice.metadata;
  await client.mergePatch(endpointSlices, keyOf(slice), { metadata: { resourceVersion }, endpoints }).catch((error: unknown) => {
    if (!(error instanceof Conflict || error instanceof NotFound)) throw error; // the change that was in the way causes the next reconcile
  });
}

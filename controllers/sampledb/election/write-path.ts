// The read-write Service leads to the primary alone. Patroni's callback sees to it in the moment of the promotion; this mends what it missed.
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
  if (!writeSlice) return done; // it is being made
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

/** An address that nobody has any more may be somebody else's soon. */
async function leaveGone(scope: Scope, slice: EndpointSlice, endpoint: Endpoint): Promise<void> {
  const pod = await podNow(scope, endpoint.targetRef?.name ?? "");
  if (!pod || !isAt(pod, endpoint)) await write(scope, slice, []);
}

async function podNow({ client, key: { namespace } }: Scope, name: string): Promise<Pod | undefined> {
  return await client.find(pods, { namespace, name });
}

/** Onto what was seen and nothing newer: the callback knows better than a cache that is behind. */
async function write({ client }: Scope, slice: EndpointSlice, endpoints: readonly Endpoint[]): Promise<void> {
  const { resourceVersion } = slice.metadata;
  await client.mergePatch(endpointSlices, keyOf(slice), { metadata: { resourceVersion }, endpoints }).catch((error: unknown) => {
    if (!(error instanceof Conflict || error instanceof NotFound)) throw error; // what changed it brings us back
  });
}

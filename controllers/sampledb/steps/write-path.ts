// The read-write Service leads to the primary alone. Patroni's callback sees to it in the moment of the promotion; this mends what it missed.
import { done } from "../../../runtime/controller/steps.ts";
import { Conflict, NotFound } from "../../../runtime/kube/errors.ts";
import { labelNames } from "../../desired/identity.ts";
import { pods } from "../../kinds.ts";
import { leaderNow, type SampleDBStep, type Scope } from "../scope.ts";

export const writePath: SampleDBStep = async (scope) => {
  const { primary, instances } = scope.observed;
  if (!primary?.ready) return done; // who takes writes is not known
  const isRight = instances.every(({ podName, takesWrites }) => takesWrites === (podName === primary.podName));
  // The lock and the Pods come by different watches, and one of them may be behind.
  if (isRight || (await leaderNow(scope)) !== primary.podName) return done;
  for (const { podName, takesWrites } of instances) {
    if (takesWrites && podName !== primary.podName) await label(scope, podName, null);
  }
  if (!primary.takesWrites) await label(scope, primary.podName, "true");
  return done;
};

/** Onto what was seen and nothing newer: the callback knows better than a cache that is behind. */
async function label({ key, client, deps }: Scope, name: string, value: "true" | null): Promise<void> {
  const pod = { namespace: key.namespace, name };
  const resourceVersion = deps.cache.watched(pods).get(pod)?.metadata.resourceVersion;
  await client.mergePatch(pods, pod, { metadata: { resourceVersion, labels: { [labelNames.primary]: value } } }).catch((error: unknown) => {
    if (!(error instanceof Conflict || error instanceof NotFound)) throw error; // what changed it brings us back
  });
}

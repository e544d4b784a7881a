// --install-policies: the operator applies config/policy itself, for installs that can't bring policies, as a bundle of OLM.
import type { KubeClient } from "../runtime/kube/client.ts";
import { Forbidden } from "../runtime/kube/errors.ts";
import type { KubeObject } from "../runtime/kube/object.ts";
import { clusterScoped } from "../runtime/kube/resource.ts";
import type { Log } from "../runtime/observability/log.ts";
import policies from "./policies.json" with { type: "json" };

const apiVersion = "admissionregistration.k8s.io/v1";

const resources = new Map([
  ["ValidatingAdmissionPolicy", clusterScoped<KubeObject>(apiVersion, "ValidatingAdmissionPolicy", "validatingadmissionpolicies")],
  [
    "ValidatingAdmissionPolicyBinding",
    clusterScoped<KubeObject>(apiVersion, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
  ],
]);

const wayOut = "an administrator can: kubectl apply --server-side --kustomize config/policy";

interface Options {
  readonly client: KubeClient;
  /** Empty: all. An operator of some namespaces sets no rules for a cluster. */
  readonly namespaces: readonly string[];
  readonly log: Log;
}

/** Applies them, and goes on without them where it has no right to: they guard databases, and none waits for them. */
export async function installPolicies({ client, namespaces, log }: Options): Promise<void> {
  if (namespaces.length > 0)
    return log.info({}, `the policies that guard databases are not installed for some namespaces alone; ${wayOut}`);
  try {
    for (const policy of policies as readonly KubeObject[]) {
      const resource = resources.get(policy.kind ?? "");
      if (!resource) throw new Error(`a policy has the kind ${policy.kind}, which is none`);
      await client.apply(resource, policy);
    }
    log.info({ count: policies.length }, "the policies that guard databases are installed");
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error;
    log.warn({ error }, `the policies that guard databases could not be installed; ${wayOut}`);
  }
}

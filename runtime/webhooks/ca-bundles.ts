// The authorities that the API server trusts for our webhooks: reads them from the webhook configurations and updates them
// there. The configurations themselves come from manifests.
import type { JsonPatch, KubeClient } from "../kube/client.ts";
import { ApiError, Conflict, NotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/object.ts";
import { clusterScoped } from "../kube/resource.ts";

export interface ConfigurationName {
  readonly kind: "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration";
  readonly name: string;
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig: { readonly caBundle?: string } }[];
}

/** A configuration as it was read, or the reason why it was not. */
export type Observed =
  | { readonly state: "found"; readonly name: ConfigurationName; readonly object: WebhookConfiguration }
  | { readonly state: "missing"; readonly name: ConfigurationName; readonly problem: string }
  | { readonly state: "unreadable"; readonly name: ConfigurationName; readonly problem: string };

export const webhookConfigurations = {
  ValidatingWebhookConfiguration: clusterScoped<WebhookConfiguration>(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
  ),
  MutatingWebhookConfiguration: clusterScoped<WebhookConfiguration>(
    "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
  ),
};

export async function observeConfigurations(kube: KubeClient, names: readonly ConfigurationName[]): Promise<Observed[]> {
  return await Promise.all(names.map((name) => observe(kube, name)));
}

/** The bundle that each webhook trusts. For an unreadable configuration we must assume that it trusts none of ours. */
export function trustedBundles(observed: readonly Observed[]): string[] {
  return observed.flatMap((configuration) => {
    if (configuration.state === "missing") return [];
    if (configuration.state === "unreadable") return [""];
    return (configuration.object.webhooks ?? []).map(({ clientConfig }) => decode(clientConfig.caBundle));
  });
}

/**
 * Makes all webhooks of the configurations trust the bundle; resolves to the problems, for people. Rejects with Conflict when a
 * configuration has changed since it was observed: another replica may have given it a newer bundle than ours.
 */
export async function publishBundle(kube: KubeClient, observed: readonly Observed[], bundle: string): Promise<string[]> {
  const problems = await Promise.all(
    observed.map(async (configuration) => {
      if (configuration.state === "missing") return undefined;
      if (configuration.state === "unreadable") return configuration.problem;
      const { name, object } = configuration;
      const patch = bundlePatch(object, bundle);
      if (patch === undefined) return undefined;
      try {
        await kube.jsonPatch(webhookConfigurations[name.kind], { namespace: "", name: name.name }, patch);
        return undefined;
      } catch (error) {
        return problem(name, error);
      }
    }),
  );
  return problems.filter((text) => text !== undefined);
}

/** Undefined when all webhooks trust exactly the bundle. */
export function bundlePatch({ metadata, webhooks = [] }: WebhookConfiguration, bundle: string): JsonPatch | undefined {
  const operations = webhooks.flatMap(({ name, clientConfig }, index): JsonPatch => {
    if (decode(clientConfig.caBundle) === bundle) return [];
    return [
      { op: "test", path: `/webhooks/${index}/name`, value: name }, // an index alone might hit another webhook
      { op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: Buffer.from(bundle).toString("base64") },
    ];
  });
  if (operations.length === 0) return undefined;
  // Not a "test" operation: a failed one is answered with "invalid", but a wrong resourceVersion with a conflict.
  return [{ op: "replace", path: "/metadata/resourceVersion", value: metadata.resourceVersion }, ...operations];
}

async function observe(kube: KubeClient, name: ConfigurationName): Promise<Observed> {
  try {
    const object = await kube.get(webhookConfigurations[name.kind], { namespace: "", name: name.name });
    return { state: "found", name, object };
  } catch (error) {
    return { state: error instanceof NotFound ? "missing" : "unreadable", name, problem: problem(name, error) };
  }
}

/** Only an answer of the API server is about this configuration; the caller retries after anything else. */
function problem({ kind, name }: ConfigurationName, error: unknown): string {
  if (!(error instanceof ApiError) || error instanceof Conflict) throw error;
  if (error instanceof NotFound) return `${kind} ${name} does not exist: its webhooks are not called until it is applied`;
  return `${kind} ${name}: the webhooks' authorities can't be kept current in it: ${error.message}`;
}

function decode(caBundle = ""): string {
  return Buffer.from(caBundle, "base64").toString("utf8");
}

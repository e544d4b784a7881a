// The authorities that the API server trusts when it calls our webhooks: read from the webhook configurations, and written
// there when they differ. The configurations themselves come from manifests.
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

/** A configuration as it was read, or why it could not be. */
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

/** What each webhook trusts. Of a configuration that can't be read we must assume that it trusts nothing of ours. */
export function trustedBundles(observed: readonly Observed[]): string[] {
  return observed.flatMap((configuration) => {
    if (configuration.state === "missing") return [];
    if (configuration.state === "unreadable") return [""];
    return (configuration.object.webhooks ?? []).map(({ clientConfig }) => decode(clientConfig.caBundle));
  });
}

/**
 * Makes all webhooks of the configurations trust the bundle; resolves to what did not work, for people. Rejects with Conflict
 * when a configuration has changed since it was observed: another replica may have given it a newer bundle than ours.
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

/** Undefined when all of them trust exactly the bundle. */
export function bundlePatch({ metadata, webhooks = [] }: WebhookConfiguration, bundle: string): JsonPatch | undefined {
  const operations = webhooks.flatMap(({ name, clientConfig }, index): JsonPatch => {
    if (decode(clientConfig.caBundle) === bundle) return [];
    return [
      { op: "test", path: `/webhooks/${index}/name`, value: name }, // an index alone could meet another webhook
      { op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: Buffer.from(bundle).toString("base64") },
    ];
  });
  if (operations.length === 0) return undefined;
  // Not a test: setting it makes the API server answer with a conflict, and a test that fails only with "invalid".
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

/** Only an answer of the API server's is about this configuration; anything else is for the caller to try again. */
function problem({ kind, name }: ConfigurationName, error: unknown): string {
  if (!(error instanceof ApiError) || error instanceof Conflict) throw error;
  if (error instanceof NotFound) return `${kind} ${name} does not exist: its webhooks are not called until it is applied`;
  return `${kind} ${name}: the webhooks' authorities can't be kept current in it: ${error.message}`;
}

function decode(caBundle = ""): string {
  return Buffer.from(caBundle, "base64").toString("utf8");
}

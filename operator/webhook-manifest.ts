// The configuration by which the API server finds our webhooks; config/webhook/webhooks.yaml is generated from it.
import { group } from "../api/version.ts";
import { type WebhookConfiguration, webhookConfigurations } from "../runtime/webhooks/ca-bundles.ts";
import { type ServiceClient, type UrlClient, webhookEntry } from "../runtime/webhooks/configuration.ts";
import { validators } from "./admission.ts";
import { operatorAccount, webhookNames } from "./names.ts";

/** `client` gives the address of a path; by default in the operator's Service. */
export function webhookManifest(client: (path: string) => ServiceClient | UrlClient = inCluster): WebhookConfiguration {
  const { apiVersion, kind } = webhookConfigurations.ValidatingWebhookConfiguration;
  const { namespace, name } = operatorAccount;
  const operatorUsername = `system:serviceaccount:${namespace}:${name}`;
  const webhooks = validators.map(({ resource, path, operations, failurePolicy }) =>
    webhookEntry({
      name: `${resource.plural}.validate.${group}`,
      resource,
      operations,
      failurePolicy,
      client: client(path),
      operatorUsername,
    }),
  );
  return { apiVersion, kind, metadata: { name: webhookNames.validating }, webhooks };
}

function inCluster(path: string): ServiceClient {
  return { service: { namespace: operatorAccount.namespace, name: webhookNames.service, path, port: 443 } };
}

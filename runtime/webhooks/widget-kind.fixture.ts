// A small kind for tests, and webhook configurations that point to a server on this host.
import type { KubeClient } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";
import { clusterScoped, namespaced } from "../kube/resource.ts";
import { allowed, denied, patched } from "./admission.ts";
import { type ConfigurationName, type WebhookConfiguration, webhookConfigurations } from "./ca-bundles.ts";
import { type WebhookOptions, webhookEntry } from "./configuration.ts";
import type { WebhookServer } from "./server.ts";

export interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number; readonly color?: string };
}

export const widgets = namespaced<Widget>("test.example.com/v1", "Widget", "widgets");
const definitions = clusterScoped<KubeObject & { spec: object }>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
);

export function widget(name: string, spec?: Widget["spec"], metadata: Partial<KubeObject["metadata"]> = {}): Widget {
  return {
    apiVersion: "test.example.com/v1",
    kind: "Widget",
    metadata: { ...metadata, name, namespace: "default" },
    ...(spec ? { spec } : {}),
  };
}

export function widgetKey(name: string): { namespace: string; name: string } {
  return { namespace: "default", name };
}

export async function defineWidgets(kube: KubeClient): Promise<void> {
  const spec = { type: "object", properties: { size: { type: "integer" }, color: { type: "string" } } };
  await kube.create(definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.test.example.com" },
    spec: {
      group: "test.example.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec } } } }],
    },
  });
}

export interface ConfigurationOptions {
  readonly name: ConfigurationName;
  readonly port: number;
  readonly path: string;
  readonly operatorUsername: string;
  readonly operations?: WebhookOptions["operations"];
}

export async function configureWebhook(kube: KubeClient, options: ConfigurationOptions): Promise<void> {
  const { name, port, path, operatorUsername, operations = ["CREATE", "UPDATE"] } = options;
  const entry = webhookEntry({
    name: `${name.name}.test.example.com`,
    resource: widgets,
    operations,
    client: { url: `https://127.0.0.1:${port}${path}` },
    operatorUsername,
  });
  const object: WebhookConfiguration = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: name.kind,
    metadata: { name: name.name },
    webhooks: [entry],
  };
  await kube.create(webhookConfigurations[name.kind], object);
}

/** Creates widgets one after the other, with steps before some of them, and resolves to the failures. */
export async function createWidgets(
  kube: KubeClient,
  name: string,
  count: number,
  steps: Readonly<Record<number, () => Promise<void>>>,
): Promise<string[]> {
  const failures: string[] = [];
  for (let index = 0; index < count; index++) {
    await steps[index]?.();
    await kube
      .create(widgets, widget(`${name}-${index}`, { size: index }))
      .catch((error: Error) => failures.push(`${index}: ${error.message}`));
  }
  return failures;
}

/** `/check` refuses a size over 100 or less than before, and fails at 500 and 504; `/color` sets a missing color to grey. */
export function serveWidgets(server: WebhookServer): void {
  server.validate<Widget>("/check", async (request) => {
    const { operation, object, oldObject } = request;
    if (operation === "DELETE") return oldObject.metadata.name === "protected" ? denied({ message: "it is protected" }) : allowed();
    const size = object.spec?.size ?? 0;
    if (size === 500) throw new Error("no such table");
    if (size === 504) await new Promise(() => {});
    if (size > 100) {
      const causes = [{ reason: "FieldValueInvalid", field: "spec.size", message: "100 at most" }];
      return denied({ message: `spec.size: ${size} is too big`, causes });
    }
    if (oldObject && size < (oldObject.spec?.size ?? 0)) return denied({ message: "a widget never shrinks" });
    return allowed(size > 50 ? ["this is rather big"] : []);
  });
  server.mutate<Widget>("/color", ({ object }) =>
    object?.spec && object.spec.color === undefined ? patched([{ op: "add", path: "/spec/color", value: "grey" }]) : allowed(),
  );
}

// A client for tests with connections of its own, which are closed when the test ends.
import type { KubeConfig } from "@kubernetes/client-node";
import { type ClientOptions, KubeClient } from "./client.ts";
import { Credentials } from "./credentials.ts";
import { kubeConfigFromFile } from "./kube-config.ts";
import type { Key, KubeObject } from "./object.ts";
import { namespaced } from "./resource.ts";
import { Transport, type TransportOptions } from "./transport.ts";

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const configMaps = namespaced<ConfigMap>("v1", "ConfigMap", "configmaps");

export function configMap(name: string, data: Record<string, string> = {}, namespace = "default"): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data };
}

export function inDefault(name: string): Key {
  return { namespace: "default", name };
}

export class TestConnection implements AsyncDisposable {
  readonly credentials: Credentials;
  readonly transport: Transport;
  readonly client: KubeClient;

  /** The path of a kubeconfig, or a function that loads one each time. */
  constructor(config: string | (() => KubeConfig), options: Partial<ClientOptions> & TransportOptions = {}) {
    const load = typeof config === "string" ? () => kubeConfigFromFile(config) : config;
    this.credentials = new Credentials(load);
    this.transport = new Transport(this.credentials, options);
    this.client = new KubeClient(this.transport, { fieldManager: "test", ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.transport.close();
  }
}

// For tests: the kind of the Prometheus operator, without its schema.
import type { KubeObject } from "../../../runtime/kube/object.ts";
import { clusterScoped } from "../../../runtime/kube/resource.ts";

export const definitions = clusterScoped<KubeObject>("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions");

export const podMonitorDefinition: KubeObject & { readonly spec: object } = {
  apiVersion: definitions.apiVersion,
  kind: definitions.kind,
  metadata: { name: "podmonitors.monitoring.coreos.com" },
  spec: {
    group: "monitoring.coreos.com",
    names: { kind: "PodMonitor", plural: "podmonitors", singular: "podmonitor", listKind: "PodMonitorList" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } },
        },
      },
    ],
  },
};

// The kinds of Kubernetes that the controllers make and read.
import type {
  V1ConfigMap,
  V1Deployment,
  V1EndpointSlice,
  V1Job,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
} from "@kubernetes/client-node";
import type { KubeObject, Model } from "../../runtime/kube/object.ts";
import { clusterScoped, namespaced } from "../../runtime/kube/resource.ts";

export type ConfigMap = Model<V1ConfigMap>;
export type Deployment = Model<V1Deployment>;
export type EndpointSlice = Model<V1EndpointSlice>;
export type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];
export type Job = Model<V1Job>;
export type PersistentVolumeClaim = Model<V1PersistentVolumeClaim>;
export type PersistentVolume = Model<V1PersistentVolume>;
export type Pod = Model<V1Pod>;
export type PodDisruptionBudget = Model<V1PodDisruptionBudget>;
export type Role = Model<V1Role>;
export type RoleBinding = Model<V1RoleBinding>;
export type Secret = Model<V1Secret>;
export type Service = Model<V1Service>;
export type ServiceAccount = Model<V1ServiceAccount>;
export type StatefulSet = Model<V1StatefulSet>;

export const configMaps = namespaced<ConfigMap>("v1", "ConfigMap", "configmaps");
export const deployments = namespaced<Deployment>("apps/v1", "Deployment", "deployments");
export const endpointSlices = namespaced<EndpointSlice>("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");
export const jobs = namespaced<Job>("batch/v1", "Job", "jobs");
export const namespaces = clusterScoped<KubeObject>("v1", "Namespace", "namespaces");
export const persistentVolumeClaims = namespaced<PersistentVolumeClaim>("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
export const persistentVolumes = clusterScoped<PersistentVolume>("v1", "PersistentVolume", "persistentvolumes");
export const pods = namespaced<Pod>("v1", "Pod", "pods");
export const podDisruptionBudgets = namespaced<PodDisruptionBudget>("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
export const roles = namespaced<Role>("rbac.authorization.k8s.io/v1", "Role", "roles");
export const roleBindings = namespaced<RoleBinding>("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings");
export const secrets = namespaced<Secret>("v1", "Secret", "secrets");
export const services = namespaced<Service>("v1", "Service", "services");
export const serviceAccounts = namespaced<ServiceAccount>("v1", "ServiceAccount", "serviceaccounts");
export const statefulSets = namespaced<StatefulSet>("apps/v1", "StatefulSet", "statefulsets");

/** The fields that the operator reads of the Events of Kubernetes' own controllers. */
export interface Event extends KubeObject {
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly series?: { readonly lastObservedTime: string };
}

export const events = namespaced<Event>("events.k8s.io/v1", "Event", "events");

/** A kind of the Prometheus operator. The cluster may not have it. */
export interface PodMonitor extends KubeObject {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly podMetricsEndpoints: readonly {
      readonly port: string;
      readonly path: string;
      readonly relabelings: readonly { readonly sourceLabels: readonly string[]; readonly targetLabel: string }[];
    }[];
  };
}

export const podMonitors = namespaced<PodMonitor>("monitoring.coreos.com/v1", "PodMonitor", "podmonitors");

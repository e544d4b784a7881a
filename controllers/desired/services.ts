// The Services: read-write, read-only, and the one that gives the instances their DNS names.
import { labelNames } from "../../api/labels.ts";
import type { Endpoint, EndpointSlice, Pod, Service } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { instanceSelector, managedBy, owned } from "./identity.ts";
import { namesOf } from "./names.ts";

export const postgresPort = 5432;
export const patroniPort = 8008;

const portName = "postgres";
const protocol = "TCP";
const ports = [{ name: portName, port: postgresPort, targetPort: portName, protocol }];

/** Kubernetes' own slices, for Services with a selector, have the Service's labels, too. The second label is the operator's alone. */
export const sliceLabels = { ...managedBy, "endpointslice.kubernetes.io/managed-by": managedBy["app.kubernetes.io/managed-by"] } as const;

type Exposure = NonNullable<SampleDB["spec"]["services"]>["readWrite"];

/** Leads to the primary. It has no selector: a new leader writes itself into the slice at once, without waiting for Kubernetes. */
export function readWriteService(db: SampleDB): Service {
  return service(db, namesOf(db).readWriteService, undefined, db.spec.services?.readWrite);
}

/** The slice of the read-write Service, without `endpoints`: Patroni's callback writes them, and the step write-path mends them. */
export function readWriteSlice(db: SampleDB, addressType: string): EndpointSlice {
  const { readWriteService: name } = namesOf(db);
  const metadata = owned(db, name);
  const labels = { ...metadata.labels, ...sliceLabels, "kubernetes.io/service-name": name };
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...metadata, labels },
    addressType,
    ports: [{ name: portName, port: postgresPort, protocol }],
  };
}

/** The endpoint of a Pod, as Patroni's callback writes it; undefined while the Pod has no address of this family. */
export function endpointOf({ metadata: { name, namespace = "", uid = "" }, spec, status }: Pod, addressType: string): Endpoint | undefined {
  const address = status?.podIPs?.find(({ ip }) => ip.includes(":") === (addressType === "IPv6"))?.ip;
  if (address === undefined) return undefined;
  const targetRef = { kind: "Pod", namespace, name, uid };
  const node = spec?.nodeName === undefined ? {} : { nodeName: spec.nodeName };
  return { addresses: [address], conditions: { ready: true }, ...node, targetRef };
}

export function readOnlyService(db: SampleDB): Service {
  return service(db, namesOf(db).readOnlyService, { ...instanceSelector(db), [labelNames.role]: "replica" }, db.spec.services?.readOnly);
}

/** DNS names of the instances, also while they are not ready: a person who debugs one needs its name then. */
export function podsService(db: SampleDB): Service {
  const spec = { clusterIP: "None", publishNotReadyAddresses: true, selector: instanceSelector(db), ports };
  return { apiVersion: "v1", kind: "Service", metadata: owned(db, namesOf(db).podsService), spec };
}

function service(db: SampleDB, name: string, selector: Record<string, string> | undefined, exposure: Exposure): Service {
  const metadata = { ...owned(db, name), ...(exposure?.annotations ? { annotations: exposure.annotations } : {}) };
  const spec = { type: exposure?.type ?? "ClusterIP", ...(selector && { selector }), ports };
  return { apiVersion: "v1", kind: "Service", metadata, spec };
}

// The Services: where writes go, where reads may go, and the names of the instances.
import type { Service } from "../kinds.ts";
import type { SampleDB } from "../resources.ts";
import { instanceSelector, labelNames, owned } from "./identity.ts";
import { namesOf } from "./names.ts";

export const postgresPort = 5432;
export const patroniPort = 8008;

const ports = [{ name: "postgres", port: postgresPort, targetPort: "postgres", protocol: "TCP" }];

type Exposure = NonNullable<SampleDB["spec"]["services"]>["readWrite"];

/** Leads to the one instance that says it takes writes, and to none that was lost. */
export function readWriteService(db: SampleDB): Service {
  const { spec, ...rest } = service(db, namesOf(db).readWriteService, { [labelNames.primary]: "true" }, db.spec.services?.readWrite);
  // The label says all: a primary that is restarted has no other that could answer for it, and a probe would add its seconds.
  return { ...rest, spec: { ...spec, publishNotReadyAddresses: true } };
}

export function readOnlyService(db: SampleDB): Service {
  return service(db, namesOf(db).readOnlyService, { [labelNames.role]: "replica" }, db.spec.services?.readOnly);
}

/** Names for the instances, also while they are not ready: that is when one is looked for. */
export function podsService(db: SampleDB): Service {
  const spec = { clusterIP: "None", publishNotReadyAddresses: true, selector: instanceSelector(db), ports };
  return { apiVersion: "v1", kind: "Service", metadata: owned(db, namesOf(db).podsService), spec };
}

function service(db: SampleDB, name: string, which: Record<string, string>, exposure: Exposure): Service {
  const metadata = { ...owned(db, name), ...(exposure?.annotations ? { annotations: exposure.annotations } : {}) };
  const spec = { type: exposure?.type ?? "ClusterIP", selector: { ...instanceSelector(db), ...which }, ports };
  return { apiVersion: "v1", kind: "Service", metadata, spec };
}

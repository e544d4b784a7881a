// Limits of the containers beside PostgreSQL's. A quota on limits of CPU or memory refuses every Pod with a container that has none. So
// where the user gives the instances limits, every container of the database has them.
import { compareQuantities } from "../../kubernetes/quantity.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";

/** Every container uses these. A limit of any other resource would be a request of as much. */
const common = ["cpu", "memory"];

/** A limit for each of these that the user limits: the container's own, or else that of an instance. */
export function limitsLike(
  { spec: { resources } }: Pick<SampleDB, "spec">,
  own: Readonly<Record<string, string>> = {},
): { limits?: Record<string, string> } {
  const given = Object.entries(resources?.limits ?? {}).filter(([name]) => common.includes(name));
  return given.length > 0 ? { limits: Object.fromEntries(given.map(([name, value]) => [name, own[name] ?? String(value)])) } : {};
}

type Amounts = Readonly<Record<"cpu" | "memory", string>>;

/** The resources of a container in the instances' Pods. `usual`: its requests. `guaranteed`: its limits, where it must have some. */
export function besidePostgres(
  db: Pick<SampleDB, "spec">,
  { usual, guaranteed }: { readonly usual: Amounts; readonly guaranteed: Amounts },
): { requests: Amounts; limits?: Record<string, string> } {
  if (isGuaranteed(db.spec.resources)) return { requests: guaranteed, limits: guaranteed };
  return { requests: usual, ...limitsLike(db, guaranteed) };
}

/** Kubernetes kills Pods of the Guaranteed class last. A container without limits would take the whole Pod out of the class. */
function isGuaranteed(resources: SampleDB["spec"]["resources"]): boolean {
  return ["cpu", "memory"].every((name) => {
    const limit = resources?.limits?.[name];
    return limit !== undefined && compareQuantities(resources?.requests?.[name] ?? limit, limit) === 0;
  });
}

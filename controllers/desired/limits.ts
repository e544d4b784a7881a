// Limits of the containers beside PostgreSQL's. A quota on limits of CPU or memory refuses every Pod with a container that has none. So
// where the user gives the instances limits, every container of the database has them.
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

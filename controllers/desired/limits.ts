// Limits of what runs beside PostgreSQL. A quota on limits of CPU or memory refuses every Pod that has a container without one, so where the
// user gives the instances some, all containers have them.
import type { SampleDB } from "../kinds/sampledb-io.ts";

/** What every container uses, and asks for; a limit of anything else would be a request of as much. */
const common = ["cpu", "memory"];

/** Of each that the user limits: the container's own, or as much as an instance. */
export function limitsLike(
  { spec: { resources } }: Pick<SampleDB, "spec">,
  own: Readonly<Record<string, string>> = {},
): { limits?: Record<string, string> } {
  const given = Object.entries(resources?.limits ?? {}).filter(([name]) => common.includes(name));
  return given.length > 0 ? { limits: Object.fromEntries(given.map(([name, value]) => [name, own[name] ?? String(value)])) } : {};
}

// Limits of what runs beside PostgreSQL. A quota on limits refuses every Pod that has a container without one, so where the user gives the
// instances some, all containers have them.
import type { SampleDB } from "../resources.ts";

type Resources = SampleDB["spec"]["resources"];

/** Of those that the user limits, these. */
export function limitsLike(resources: Resources, limits: Readonly<Record<string, string | number>>): { limits?: Record<string, string> } {
  const chosen = Object.entries(limits).filter(([name]) => resources?.limits?.[name] !== undefined);
  return chosen.length > 0 ? { limits: Object.fromEntries(chosen.map(([name, value]) => [name, String(value)])) } : {};
}

// JSON in an annotation, as Patroni keeps what it knows. Whoever may run SQL as a superuser can write there in its place: nothing of it is
// taken for granted.
import type { KubeObject } from "../../runtime/kube/object.ts";

/** What the object there says; nothing where it is not there, or is no object. */
export function jsonAnnotation<T extends object>(of: KubeObject | undefined, name: string): Partial<T> {
  try {
    const value: unknown = JSON.parse(of?.metadata.annotations?.[name] ?? "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

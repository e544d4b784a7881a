// Reads JSON from an annotation, which is where Patroni stores its state. A superuser of the database can write there in Patroni's place,
// so the reader assumes nothing about the content.
import type { KubeObject } from "../../runtime/kube/object.ts";

/** The object in the annotation; empty where the annotation is missing or no JSON object. The types of its fields are not checked. */
export function jsonAnnotation<T extends object>(of: KubeObject | undefined, name: string): Partial<T> {
  try {
    const value: unknown = JSON.parse(of?.metadata.annotations?.[name] ?? "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

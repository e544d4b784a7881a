// The name of a candidate: readable, and never the same twice, since a container that starts again keeps its host's name.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

export function newIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}

// The name of a candidate: readable, and unique, since a container that restarts keeps its host name.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

export function newIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}

// Connections from the operator to a database's Pods: inside the cluster by their addresses, from outside through the API server.
import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import type { KubeConfig } from "@kubernetes/client-node";
import { portForward } from "../../runtime/kube/port-forward.ts";

export interface PodAddress {
  readonly namespace: string;
  readonly name: string;
  readonly ip: string;
}

/** Makes a plain connection for one use, which the caller must end. The signal ends the attempt, not the connection. */
export type Dial = (pod: PodAddress, port: number, signal: AbortSignal) => Promise<Duplex>;

export const databaseAccesses = ["direct", "port-forward"] as const;
export type DatabaseAccess = (typeof databaseAccesses)[number];

export function dialFor(access: DatabaseAccess, loadKubeConfig: () => KubeConfig): Dial {
  // Loaded for each connection: tokens change while the process runs.
  return access === "direct" ? dialDirectly : (pod, port, signal) => portForward(loadKubeConfig(), pod, port, signal);
}

export const dialDirectly: Dial = async ({ ip }, port, signal) => {
  signal.throwIfAborted();
  const socket = connect({ host: ip, port, noDelay: true });
  try {
    await once(socket, "connect", { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : error;
  }
};

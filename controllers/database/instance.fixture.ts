// For tests: instances and their Pods, healthy unless the caller says otherwise.
import type { Pod } from "../kinds/kubernetes.ts";
import type { Instance } from "./instance.ts";

export function instance(ordinal: number, told: Partial<Instance> = {}): Instance {
  return {
    podName: `orders-${ordinal}`,
    uid: `uid-${ordinal}`,
    ordinal,
    ready: true,
    going: false,
    role: "Replica",
    timeline: 1,
    node: `node-${ordinal}`,
    address: `10.0.0.${ordinal}`,
    starting: false,
    streaming: told.role !== "Primary",
    mayTakeOver: told.role !== "Primary",
    pendingRestart: undefined,
    heldSettings: [],
    asked: "now",
    revision: undefined,
    takesWrites: told.role === "Primary",
    problem: undefined,
    ended: undefined,
    ...told,
  };
}

export const primary = (ordinal: number, told: Partial<Instance> = {}) => instance(ordinal, { role: "Primary", ...told });

/** A Pod as the kubelet and Patroni write it. `status` is Patroni's annotation, as text or as an object. */
export function pod(
  name: string,
  {
    status,
    ready = true,
    ...told
  }: {
    status?: object | string;
    ready?: boolean;
    metadata?: Partial<Pod["metadata"]>;
    conditions?: NonNullable<Pod["status"]>["conditions"];
    containerStatuses?: object[];
    podIPs?: { readonly ip: string }[];
  } = {},
): Pod {
  const { annotations, ...metadata } = told.metadata ?? {};
  const patroni = status === undefined ? {} : { status: typeof status === "string" ? status : JSON.stringify(status) };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", uid: `uid-of-${name}`, ...metadata, annotations: { ...annotations, ...patroni } },
    status: {
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }, ...(told.conditions ?? [])],
      ...(told.podIPs && { podIPs: told.podIPs }),
      containerStatuses: (told.containerStatuses ?? []) as NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>,
    },
  };
}

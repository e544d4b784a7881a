// A Pod with a shell, from the database image, under the restricted profile: tests look at the cluster from inside of it.

import { postgresImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { eventually } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { isReady } from "../cluster/status.ts";

interface ToolboxOptions {
  readonly image?: string;
  readonly node?: string;
  readonly user?: number;
  readonly claim?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
}

export function toolbox(name: string, options: ToolboxOptions = {}): object {
  const volumes = {
    tmp: { emptyDir: {} },
    sockets: { emptyDir: {} },
    ...(options.claim ? { data: { persistentVolumeClaim: { claimName: options.claim } } } : {}),
  };
  const mountPaths: Readonly<Record<string, string>> = { tmp: "/tmp", sockets: "/run/postgresql", data: "/data" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { ...options.labels } },
    spec: {
      ...(options.node ? { nodeSelector: { "kubernetes.io/hostname": options.node } } : {}),
      terminationGracePeriodSeconds: 0,
      securityContext: {
        runAsNonRoot: true,
        ...(options.user ? { runAsUser: options.user, runAsGroup: 0 } : {}),
        fsGroup: 26,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: "toolbox",
          image: options.image ?? imageReference(postgresImage("17")),
          args: options.command ?? ["sleep", "infinity"],
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
          volumeMounts: Object.keys(volumes).map((volume) => ({ name: volume, mountPath: mountPaths[volume] })),
        },
      ],
      volumes: Object.entries(volumes).map(([volume, source]) => ({ name: volume, ...source })),
    },
  };
}

/** A claim for a disk of the default class, unless its spec says otherwise. */
export function diskClaim(name: string, storage: string, spec: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...spec },
  };
}

/** Applies the objects and waits for the Pods among them. */
export async function startPods(kubectl: Kubectl, ...objects: object[]): Promise<void> {
  await kubectl.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const names = objects.filter(
    (object): object is { kind: string; metadata: { name: string } } => "kind" in object && object.kind === "Pod",
  );
  await eventually(`${names.map(({ metadata }) => metadata.name).join(", ")} ready`, 120_000, async () => {
    const ready = new Set((await kubectl.list("pods")).filter(isReady).map((pod) => pod["metadata"].name));
    return names.every(({ metadata }) => ready.has(metadata.name));
  });
}

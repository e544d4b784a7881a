// A Pod with a shell, from the database image, under the restricted profile: tests look at the cluster from inside of it.

import { catalog } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { eventually } from "../cluster/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { isReady } from "../cluster/status.ts";

export function postgresImage(tag: string): string {
  const image = catalog().find((definition) => definition.name === "sampledb/postgres" && definition.tag === tag);
  if (!image) throw new Error(`the catalog has no sampledb/postgres:${tag}`);
  return imageReference(image);
}

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
          image: options.image ?? postgresImage("17"),
          args: options.command ?? ["sleep", "infinity"],
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
          volumeMounts: Object.keys(volumes).map((volume) => ({ name: volume, mountPath: mountPaths[volume] })),
        },
      ],
      volumes: Object.entries(volumes).map(([volume, source]) => ({ name: volume, ...source })),
    },
  };
}

export async function startPods(kubectl: Kubectl, ...pods: object[]): Promise<void> {
  await kubectl.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: pods }));
  await eventually("the Pods are ready", 120_000, async () => (await kubectl.list("pods")).every(isReady));
}

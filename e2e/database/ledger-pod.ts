// The ledger's Pod: the operator's image, for the Node in it, with the program from a ConfigMap.
import { join } from "node:path";
import { build } from "esbuild";
import { operatorImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";

export interface LedgerPodOptions {
  readonly name: string;
  readonly secret: string;
  readonly table: string;
  readonly node?: string | undefined;
}

const program = "/program/ledger-writer.mjs";
const nodeProgram = "/usr/local/bin/node";
export const container = "ledger";

/** What `kubectl exec` runs in it. */
export function ledgerCommand(...words: readonly string[]): string[] {
  return [nodeProgram, program, ...words];
}

/** The program and the packages it needs, in one text. */
export async function ledgerProgram(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "ledger-writer.ts")],
    write: false,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // Node 24 has it. esbuild would rewrite it, and then throws an error of one turn of a loop again at the end of every later one.
    supported: { using: true },
    external: ["pg-native", "pg-cloudflare"], // neither is used here
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "warning",
  });
  const [file] = outputFiles;
  if (!file) throw new Error("esbuild made no file");
  return file.text;
}

export async function ledgerObjects({ name, secret, table, node }: LedgerPodOptions): Promise<object[]> {
  const labels = { app: name };
  const configuration = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `${name}-program`, labels },
    data: { "ledger-writer.mjs": await ledgerProgram() },
  };
  const volumes = {
    program: { configMap: { name: `${name}-program` } },
    secret: { secret: { secretName: secret } },
    book: { emptyDir: {} }, // outlives the container, and a node that loses power
  };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: {
      ...(node ? { nodeSelector: { "kubernetes.io/hostname": node } } : {}),
      // Through a cut of any length: evicted, it would take its book along.
      tolerations: ["not-ready", "unreachable"].map((taint) => ({
        key: `node.kubernetes.io/${taint}`,
        operator: "Exists",
        effect: "NoExecute",
      })),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: container,
          image: imageReference(operatorImage()),
          command: ledgerCommand("write"),
          env: [{ name: "LEDGER_TABLE", value: table }],
          resources: { requests: { cpu: "10m", memory: "64Mi" } },
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
          volumeMounts: Object.keys(volumes).map((volume) => ({ name: volume, mountPath: `/${volume}` })),
        },
      ],
      volumes: Object.entries(volumes).map(([volume, source]) => ({ name: volume, ...source })),
    },
  };
  return [configuration, pod];
}

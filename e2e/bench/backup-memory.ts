// What 500 Backups that are over cost the operator: its memory with them, and without them.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BackupStatus } from "../../api/backup.ts";
import { apiVersion } from "../../api/version.ts";
import { type Backup, backups } from "../../controllers/kinds/sampledb-io.ts";
import { KubeClient } from "../../runtime/kube/client.ts";
import { Credentials } from "../../runtime/kube/credentials.ts";
import { kubeConfigFromFile } from "../../runtime/kube/kube-config.ts";
import { keyOf } from "../../runtime/kube/object.ts";
import { Transport } from "../../runtime/kube/transport.ts";
import { eventually } from "../../tools/eventually.ts";
import { say, step } from "../../tools/progress.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { sampleDB } from "../database/database.ts";
import { OperatorProcess } from "../replay/operator-process.ts";
import type { Figure } from "./figures.ts";

const count = 500;
const rounds = 3;
const settlingSeconds = 20;

/** Operators are started with none of them and with all of them, in turn: memory differs from one start to the next by some MB. */
export async function memory(): Promise<Figure[]> {
  const plane = await StandaloneControlPlane.start();
  const transport = new Transport(new Credentials(() => kubeConfigFromFile(plane.kubeconfig)));
  const client = new KubeClient(transport, { fieldManager: "bench" });
  try {
    await plane.kubectl("apply", "--server-side", "--kustomize", join(projectDirectory, "config/crd"));
    await plane.kubectl("create", "namespace", "sampledb-system");
    const without: number[] = [];
    for (let round = 0; round < rounds; round++) without.push(await residentMegabytes(plane));
    await step(`${count} Backups that are over`, () => make(client));
    const withAll: number[] = [];
    for (let round = 0; round < rounds; round++) withAll.push(await residentMegabytes(plane));
    say(`memory in MB, without: ${shown(without)}; with ${count}: ${shown(withAll)}`);
    return [
      {
        ...{ what: `memory of the operator with ${count} Backups`, unit: "MB", ours: least(withAll), peer: least(without) },
        wanted: { mostAbovePeer: 20 },
      },
    ];
  } finally {
    await transport.close();
    await plane.stop();
  }
}

/** The least of several: what is above it is garbage that was not collected yet. */
const least = (values: readonly number[]) => Math.min(...values);
const shown = (values: readonly number[]) => values.map((value) => value.toFixed(0)).join(" ");

async function residentMegabytes(plane: StandaloneControlPlane): Promise<number> {
  const operator = await OperatorProcess.start(plane.kubeconfig, join(projectDirectory, "build/logs/bench-operator.log"));
  try {
    await eventually("the operator answers", 60_000, () =>
      operator.cost().then(
        () => true,
        () => undefined,
      ),
    );
    await sleep(settlingSeconds * 1000);
    return operator.residentMegabytes;
  } finally {
    await operator.kill("SIGTERM");
  }
}

async function make(client: KubeClient): Promise<void> {
  for (let index = 0; index < count; index++) {
    const metadata = { namespace: "default", name: `orders-nightly-${index}` };
    const spec = { sampleDBName: "orders", type: "Full", deletionPolicy: "Retain" } as const;
    const made = await client.create(backups, { apiVersion, kind: "Backup", metadata, spec } as Backup);
    await client.mergePatch(backups, keyOf(made), { status: statusOf(index) }, { subresource: "status" });
  }
}

/** As a Backup of a production database has it when it is over. */
function statusOf(index: number): BackupStatus {
  const time = new Date(Date.UTC(2026, 0, 1) + index * 86_400_000).toISOString().replace(/\.\d+Z$/, "Z");
  const label = `${time.slice(0, 10).replaceAll("-", "")}-000000F`;
  const message = `${label} is in the repository, and all of it was checked`;
  const { spec } = sampleDB({
    ...{ name: "orders", replicas: 3, synchronousReplication: "Required", deletionProtection: true },
    resources: { requests: { cpu: "2", memory: "8Gi" }, limits: { memory: "8Gi" } },
    postgresql: { parameters: { work_mem: "8MB", max_wal_size: "4GB", random_page_cost: "1.1" } },
    backup: { repository: { volume: { size: "100Gi" } } },
  });
  return {
    observedGeneration: 1,
    conditions: [
      { type: "Succeeded", status: "True", reason: "BackupSucceeded", message, observedGeneration: 1, lastTransitionTime: time },
    ],
    ...{ startTime: time, completionTime: time, durationSeconds: 900, copySeconds: 700.5, progress: { percent: 100 } },
    ...{ copiedBytes: 80_000_000_000, databaseBytes: 80_000_000_000, repositoryBytes: 25_000_000_000, bytesPerSecond: 114_000_000 },
    ...{ sourcePodName: "orders-1", consistentTime: time, label, timeline: 3, startLSN: "2A/2000028", stopLSN: "2A/3000100" },
    ...{ firstWAL: "000000030000002A00000002", lastWAL: "000000030000002A00000003" },
    ...{ systemIdentifier: "7550000000000000001", postgresVersion: "17" },
    repository: { stanza: "0d3f5a52-6f0d-4d0c-9a55-8f6f6a3f1a11-17-1", volumeClaimName: "orders-repository" },
    verification: { time, walComplete: true, checksumsGood: true, seconds: 180.5 },
    sampleDBSpec: { ...spec },
  };
}

// A Restore, timed: from its manifest to Succeeded, and what its Job says of itself.
import { labelNames } from "../../api/labels.ts";
import { eventually } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { Over, Runs } from "../database/runs.ts";

export interface TimedRestore {
  readonly status: Over<"Restore">;
  /** In seconds, as all of them. */
  readonly whole: number;
  readonly copy: number;
  readonly recovery: number;
  /** What PostgreSQL itself says of its replay. */
  readonly replay: number;
}

export async function timedRestore(namespace: Kubectl, runs: Runs, name: string, spec: object): Promise<TimedRestore> {
  const begin = performance.now();
  await runs.make("Restore", name, spec);
  const pod = await podOf(namespace, "restore");
  const log = await namespace.run("logs", pod, "--container=recover", "--follow", "--request-timeout=0");
  const status = await runs.succeeds("Restore", name);
  const whole = (performance.now() - begin) / 1000;
  const { copySeconds, recoverySeconds } = JSON.parse(log.trim().split("\n").at(-1) ?? "{}");
  const replay = Number(/redo done at .* elapsed: ([\d.]+) s/.exec(log)?.[1]);
  return { status, whole, copy: copySeconds, recovery: recoverySeconds, replay };
}

/** The Pod of a Job, once its first container runs. In place that comes after a Backup. */
export async function podOf(namespace: Kubectl, component: "backup" | "restore"): Promise<string> {
  return await eventually(`the Pod of the ${component} runs`, 1_200_000, async () => {
    const pods = await namespace.list("pods", `--selector=${labelNames.component}=${component}`);
    const begun = pods.find(
      ({ status }) =>
        status.phase === "Running" || status.initContainerStatuses?.some(({ state }: { state: object }) => "running" in state),
    );
    return begun?.["metadata"].name as string | undefined;
  });
}

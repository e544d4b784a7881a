// How far the run of a Backup or a Restore is: asked of its Pod, in the background.
import * as z from "zod";
import { reasons } from "../../api/reasons.ts";
import type { Authority } from "../database/authority.ts";
import { progressPort } from "../desired/backup.ts";
import type { DatabaseIdentity } from "../desired/identity.ts";
import type { Pod } from "../kinds/kubernetes.ts";
import type { Dial } from "../patroni/dial.ts";
import { callInstance } from "../patroni/instance-call.ts";
import type { Question } from "./background-questions.ts";

const bytes = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

const progress = z.object({
  phase: z.enum(["Preparing", "Copying", "Verifying", "Expiring", "Recovering", "Cleaning"]),
  percent: z.number().min(0).max(100).optional(),
  bytesDone: bytes.optional(),
  bytesTotal: bytes.optional(),
});

export type RunProgress = z.output<typeof progress>;

/** What a condition says of each phase. */
export const phases = {
  Preparing: { reason: reasons.runPreparing, message: "its Pod starts, and asks the store and the instances whether they answer" },
  Copying: { reason: reasons.runCopying, message: "the data is being copied" },
  Verifying: { reason: reasons.runVerifying, message: "all is copied, and is read back and checked" },
  Expiring: { reason: reasons.artefactRemoving, message: "it is being removed from the repository" },
  Recovering: { reason: reasons.runRecovering, message: "PostgreSQL replays the write-ahead log up to the target" },
  Cleaning: { reason: reasons.runCleaning, message: "settings and connections of the restored database are removed" },
} as const satisfies Record<RunProgress["phase"], object>;

const deadlineMs = 5000;

export type ProgressQuestion = (database: DatabaseIdentity, pod: Pod | undefined) => Question<RunProgress>;

export function progressQuestion(authority: Authority, dial: Dial): ProgressQuestion {
  return (database, pod) => {
    const ip = pod?.status?.podIP;
    if (pod === undefined || ip === undefined) return undefined;
    return () => ask(authority, dial, database, { namespace: pod.metadata.namespace ?? "", name: pod.metadata.name, ip });
  };
}

async function ask(authority: Authority, dial: Dial, database: DatabaseIdentity, pod: Parameters<Dial>[0]): Promise<RunProgress> {
  const identity = await authority.certificateFor(database, "operator");
  if (!identity) throw new Error("the operator has no certificate for it yet");
  const run = { pod, port: progressPort, dial, authorities: identity.authorities };
  const { status, text } = await callInstance(run, { method: "GET", path: "/progress", identity }, { deadline: deadlineMs });
  if (status !== 200) throw new Error(`GET /progress at ${pod.namespace}/${pod.name}: ${status}`);
  return progress.parse(JSON.parse(text));
}

// How far a running backup is: asked of its Pod, in the background.
import * as z from "zod";
import type { Authority } from "../database/authority.ts";
import { progressPort } from "../desired/backup.ts";
import { type DatabaseIdentity, identityOf } from "../desired/identity.ts";
import type { Pod } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import type { Dial } from "../patroni/dial.ts";
import { callInstance } from "../patroni/instance-call.ts";
import type { Question } from "../repository/background-questions.ts";

const bytes = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

const progress = z.object({
  phase: z.enum(["Preparing", "Copying", "Verifying", "Expiring"]),
  percent: z.number().min(0).max(100).optional(),
  bytesDone: bytes.optional(),
  bytesTotal: bytes.optional(),
});

export type RunProgress = z.output<typeof progress>;

const deadlineMs = 5000;

export type ProgressQuestion = (db: SampleDB, pod: Pod | undefined) => Question<RunProgress>;

export function progressQuestion(authority: Authority, dial: Dial): ProgressQuestion {
  return (db, pod) => {
    const ip = pod?.status?.podIP;
    if (pod === undefined || ip === undefined) return undefined;
    return () => ask(authority, dial, identityOf(db), { namespace: pod.metadata.namespace ?? "", name: pod.metadata.name, ip });
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

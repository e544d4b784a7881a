// The two questions about the archive of a database: to the repository's Pod, and to the primary's.
import { once } from "node:events";
import { request as send } from "node:http";
import { text } from "node:stream/consumers";
import type { Authority } from "../database/authority.ts";
import type { DatabaseView } from "../database/view.ts";
import { metricsPort } from "../desired/exporter.ts";
import { identityOf } from "../desired/identity.ts";
import { repositoryPort } from "../desired/repository.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import type { Dial, PodAddress } from "../patroni/dial.ts";
import { callInstance } from "../patroni/instance-call.ts";
import { type InstanceAnswer, parseInstanceAnswer, parseRepositoryAnswer, type RepositoryAnswer } from "./answers.ts";
import type { Questions } from "./reports.ts";

const deadlineMs = 5000;

export type ArchiveQuestions = (db: SampleDB, observed: DatabaseView) => Questions;

export function archiveQuestions(authority: Authority, dial: Dial): ArchiveQuestions {
  return (db, { repository: { pod }, primary }) => {
    const { namespace = "" } = db.metadata;
    const repository = pod?.status?.podIP && { namespace, name: pod.metadata.name, ip: pod.status.podIP };
    const instance = primary?.address && { namespace, name: primary.podName, ip: primary.address };
    return {
      repository: repository ? () => askRepository(authority, dial, db, repository) : undefined,
      primary: instance ? () => askInstance(dial, instance) : undefined,
    };
  };
}

async function askRepository(authority: Authority, dial: Dial, db: SampleDB, pod: PodAddress): Promise<RepositoryAnswer> {
  const identity = await authority.certificateFor(identityOf(db), "operator");
  if (!identity) throw new Error("the operator has no certificate for it yet");
  const repository = { pod, port: repositoryPort, dial, authorities: identity.authorities };
  const { status, text } = await callInstance(repository, { method: "GET", path: "/status", identity }, { deadline: deadlineMs });
  if (status !== 200) throw new Error(`GET /status at ${pod.namespace}/${pod.name}: ${status} ${text.slice(0, 300)}`);
  return parseRepositoryAnswer(text);
}

/** Without TLS, as all metrics of an instance: a superuser of the database can answer anything here in any case. */
async function askInstance(dial: Dial, pod: PodAddress): Promise<InstanceAnswer> {
  const signal = AbortSignal.timeout(deadlineMs);
  const socket = await dial(pod, metricsPort, signal);
  try {
    const request = send({ createConnection: () => socket, host: "instance", path: "/archive", signal });
    request.end();
    const [response] = await once(request, "response", { signal });
    if (response.statusCode !== 200) throw new Error(`GET /archive at ${pod.namespace}/${pod.name}: ${response.statusCode}`);
    return parseInstanceAnswer(await text(response));
  } finally {
    socket.destroy();
  }
}

// What the operator asks about an archive that is well: of the repository's Pod, under its own certificate, and of an instance, without TLS.
import type { Server } from "node:net";
import { metricsPort } from "../../controllers/desired/exporter.ts";
import { repositoryPort } from "../../controllers/desired/repository.ts";
import type { InstanceAnswer, RepositoryAnswer } from "../../controllers/repository/answers.ts";
import { answerJson, type Served } from "./json-server.ts";

const segment = "000000010000000000000002";
const begin = "2026-01-01T00:00:00Z";
const space = { sizeBytes: 2e9, availableBytes: 1.9e9 };

export async function startRepository(address: string, stanza: string, served: Served): Promise<Server> {
  return await answerJson(address, repositoryPort, () => repositoryAnswer(stanza), served);
}

export async function startExporter(address: string): Promise<Server> {
  const answer: InstanceAnswer = { waiting: 0, oldestSeconds: 0, sizeBytes: 1e9, availableBytes: 9e8 };
  return await answerJson(address, metricsPort, () => answer);
}

/** The store was just tried, and the newest segment just came. */
function repositoryAnswer(stanza: string): RepositoryAnswer {
  const at = new Date().toISOString();
  const first = { label: "20260101-000000F", at: begin };
  const last = { name: segment, at };
  const window = { at, complete: true, timeline: 1, backupCount: 1, oldest: first, first, last, gaps: [], gapCount: 0 };
  return { stanza, probe: { at, ok: true, seconds: 0.1 }, archive: { last }, window, space };
}

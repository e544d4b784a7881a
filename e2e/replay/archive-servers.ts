// What the operator asks about an archive that is well: of the repository's Pod, under its own certificate, and of an instance, without TLS.
import { once } from "node:events";
import { createServer as createPlainServer } from "node:http";
import { createServer, type Server } from "node:https";
import type { Server as PlainServer } from "node:net";
import { metricsPort } from "../../controllers/desired/exporter.ts";
import { repositoryPort } from "../../controllers/desired/repository.ts";
import type { InstanceAnswer, RepositoryAnswer } from "../../controllers/repository/answers.ts";

export interface Repository {
  /** An address of this machine that nobody else answers on. */
  readonly address: string;
  readonly certificate: string;
  readonly key: string;
  readonly stanza: string;
}

const segment = "000000010000000000000002";
const begin = "2026-01-01T00:00:00Z";
const space = { sizeBytes: 2e9, availableBytes: 1.9e9 };

export async function startRepository({ address, certificate, key, stanza }: Repository): Promise<PlainServer> {
  const server: Server = createServer({ cert: certificate, key }, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(repositoryAnswer(stanza)));
  });
  return await listening(server, repositoryPort, address);
}

export async function startExporter(address: string): Promise<PlainServer> {
  const answer: InstanceAnswer = { waiting: 0, oldestSeconds: 0, sizeBytes: 1e9, availableBytes: 9e8 };
  const server = createPlainServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  return await listening(server, metricsPort, address);
}

/** The store was just tried, and the newest segment just came. */
function repositoryAnswer(stanza: string): RepositoryAnswer {
  const at = new Date().toISOString();
  const first = { label: "20260101-000000F", at: begin };
  const last = { name: segment, at };
  const window = { at, complete: true, timeline: 1, backupCount: 1, oldest: first, first, last, gaps: [], gapCount: 0 };
  return { stanza, probe: { at, ok: true, seconds: 0.1 }, archive: { last }, window, space };
}

async function listening(server: PlainServer, port: number, address: string): Promise<PlainServer> {
  server.listen(port, address);
  await once(server, "listening");
  server.unref();
  return server;
}

// Patroni's REST API as far as the operator asks it of a healthy instance: its status, under the database's own certificate.
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import { patroniPort } from "../../controllers/desired/services.ts";

export interface Answering {
  /** An address of this machine that nobody else answers on. */
  readonly address: string;
  readonly certificate: string;
  readonly key: string;
  readonly role: "primary" | "replica";
}

const status = { state: "running", server_version: 170_005, timeline: 1, patroni: { version: "4.0.7" }, pending_restart: false };

export async function startPatroni({ address, certificate, key, role }: Answering): Promise<Server> {
  const server = createServer({ cert: certificate, key }, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...status, role }));
  });
  server.listen(patroniPort, address);
  await once(server, "listening");
  server.unref();
  return server;
}

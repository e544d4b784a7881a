// A server that gives one answer in JSON to every request, at an address of this machine that nobody else answers on.
import { once } from "node:events";
import { createServer as createPlainServer, type RequestListener } from "node:http";
import { createServer } from "node:https";
import type { Server } from "node:net";

export interface Served {
  readonly certificate: string;
  readonly key: string;
}

/** With TLS where there is a certificate. */
export async function answerJson(address: string, port: number, answer: () => object, served?: Served): Promise<Server> {
  const listener: RequestListener = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer()));
  };
  const server = served ? createServer({ cert: served.certificate, key: served.key }, listener) : createPlainServer(listener);
  server.listen(port, address);
  await once(server, "listening");
  server.unref();
  return server;
}

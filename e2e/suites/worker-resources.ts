// What a test runner has for each of its workers: it is made when the first file of a worker asks for it, and outlives the process of that
// file, which ends with it.
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface WorkerResources<T> {
  /** What workers are given to ask for theirs. */
  readonly url: string;
  /** No worker is answered any more. Resolves to all that was made. */
  close(): Promise<T[]>;
}

/** In the runner's own process. `tell` is what of it a worker is told; a failure is told to each file that asks. */
export async function serveWorkers<T>(make: () => Promise<T>, tell: (made: T) => object): Promise<WorkerResources<T>> {
  const resources = new Map<string, Promise<T>>();
  const resourceOf = (worker: string) => {
    const resource = resources.get(worker) ?? make();
    resources.set(worker, resource);
    return resource;
  };
  const server = createServer((request, response) => {
    resourceOf(request.url ?? "").then(
      (made) => response.end(JSON.stringify(tell(made))),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      const settled = await Promise.allSettled(resources.values());
      return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    },
  };
}

/** In a worker: that of this worker, however long making it takes. Not by fetch, which gives up after five minutes. */
export async function ownResource<T>(url: string): Promise<T> {
  const [response] = (await once(get(`${url}/${process.env["VITEST_POOL_ID"]}`), "response")) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`nothing could be made for this worker: ${answer}`);
  return JSON.parse(answer) as T;
}

// Before the integration tests: the programs that they start are there. While they run: a control plane for each worker, which is started
// when the first file of that worker asks for it. A worker's process ends with each file, so its control plane belongs to this process.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { programsDirectory } from "../cluster/programs.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where a worker asks for its control plane; the path of the URL is the worker's number. */
    controlPlanes: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await programsDirectory();
  const planes = new Map<string, Promise<StandaloneControlPlane>>();
  const planeOf = (worker: string) => {
    const plane = planes.get(worker) ?? StandaloneControlPlane.start();
    planes.set(worker, plane);
    return plane;
  };
  const server = createServer((request, response) => {
    planeOf(request.url ?? "").then(
      ({ directory, url }) => response.end(JSON.stringify({ directory, url })),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  project.provide("controlPlanes", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    await Promise.allSettled([...planes.values()].map(async (plane) => (await plane).stop()));
  };
}

// Before the integration tests: the programs that they start are there. While they run: a control plane for each worker.
import type { TestProject } from "vitest/node";
import { programsDirectory } from "../cluster/programs.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { minioProgram } from "../store/minio-program.ts";
import { serveWorkers } from "./worker-resources.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where a worker asks for its control plane. */
    controlPlanes: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await programsDirectory();
  await minioProgram();
  const planes = await serveWorkers(
    () => StandaloneControlPlane.start(),
    ({ directory, url }) => ({ directory, url }),
  );
  project.provide("controlPlanes", planes.url);
  return async () => {
    await Promise.all((await planes.close()).map((plane) => plane.stop()));
  };
}

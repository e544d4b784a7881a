// What runs in a database: equal before and after something that restarts nothing.
import type { KubernetesObject } from "../cluster/kubectl.ts";
import type { Database } from "./database.ts";

/** Pods, containers and servers by what is another one after a restart. */
export async function runningIn(database: Database): Promise<object[]> {
  const pods = await database.pods();
  return await Promise.all(
    pods.map(async ({ metadata, status }: KubernetesObject) => ({
      pod: `${metadata.name} ${metadata.uid}`,
      containers: status.containerStatuses.map(
        ({ name, containerID, restartCount }: KubernetesObject) => `${name} ${containerID}, ${restartCount} restarts`,
      ),
      postgresSince: await database.sql("SELECT pg_postmaster_start_time()", { superuser: true, pod: metadata.name }),
    })),
  );
}

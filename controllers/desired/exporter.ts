// The container beside PostgreSQL's that tells its metrics, and how full its volume is.
import { compareQuantities } from "../../kubernetes/quantity.ts";
import type { StatefulSet } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { dataDirectory, socketDirectory } from "./configuration.ts";
import { monitoringUser } from "./credentials.ts";
import { limitsLike } from "./limits.ts";

type Container = NonNullable<NonNullable<StatefulSet["spec"]>["template"]["spec"]>["containers"][number];

export const metricsPort = 9187;
export const metricsPortName = "metrics";

const volume = dataDirectory.slice(0, dataDirectory.lastIndexOf("/"));

/**
 * No probe: a container that is not ready takes its Pod out of the Services, and metrics are no reason for that. The program stays
 * while PostgreSQL or the exporter is away, and ends as soon as it is told to.
 */
export function exporter(db: SampleDB, image: string): Omit<Container, "securityContext"> {
  return {
    name: "exporter",
    image,
    // Not through the image's entrypoint, which would prepare the volume: nothing is written here, and no name is needed.
    command: ["serve-metrics", volume, ...(db.spec.postgresVersion >= 17 ? ["--collector.stat_checkpointer"] : [])],
    env: [
      // By the socket, where the server sees whose process it is: there is no password.
      { name: "DATA_SOURCE_USER", value: monitoringUser },
      { name: "DATA_SOURCE_URI", value: `/postgres?host=${socketDirectory}&sslmode=disable` },
      { name: "GOMAXPROCS", value: "1" },
      { name: "GOMEMLIMIT", value: "40MiB" },
    ],
    ports: [{ name: metricsPortName, containerPort: metricsPort }],
    resources: isGuaranteed(db.spec.resources)
      ? { requests: guaranteed, limits: guaranteed }
      : { requests: usual, ...limitsLike(db, guaranteed) },
    volumeMounts: [
      { name: "data", mountPath: volume, readOnly: true },
      { name: "sockets", mountPath: socketDirectory },
    ],
  };
}

/** It takes 32 MB. Without limits where nobody asks for some: at one of memory it could be killed, and its Pod be unready until it is back. */
const usual = { cpu: "10m", memory: "40Mi" };

/** A scrape is 12 ms of work, which must not last for seconds. */
const guaranteed = { cpu: "50m", memory: "80Mi" };

/** Kubernetes kills such Pods last, and one container that has no limits would change that for PostgreSQL too. */
function isGuaranteed(resources: SampleDB["spec"]["resources"]): boolean {
  return ["cpu", "memory"].every((name) => {
    const limit = resources?.limits?.[name];
    return limit !== undefined && compareQuantities(resources?.requests?.[name] ?? limit, limit) === 0;
  });
}

// The container beside PostgreSQL's that serves its metrics, and those of its volume.
import type { StatefulSet } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { dataDirectory, socketDirectory } from "./configuration.ts";
import { monitoringUser } from "./credentials.ts";
import { besidePostgres } from "./limits.ts";

type Container = NonNullable<NonNullable<StatefulSet["spec"]>["template"]["spec"]>["containers"][number];

export const metricsPort = 9187;
export const metricsPortName = "metrics";

const volume = dataDirectory.slice(0, dataDirectory.lastIndexOf("/"));

/**
 * No probe: a container that is not ready takes its Pod out of the Services, and missing metrics are no reason for that. The program goes
 * on while PostgreSQL or the exporter is down, and ends at once on SIGTERM.
 */
export function exporter(db: SampleDB, image: string): Omit<Container, "securityContext"> {
  return {
    name: "exporter",
    image,
    // Not through the image's entrypoint, which would prepare the volume: here it is mounted read-only.
    command: ["serve-metrics", volume, ...(db.spec.postgresVersion >= 17 ? ["--collector.stat_checkpointer"] : [])],
    env: [
      // By the socket, where the server sees the user of the process. So there is no password.
      { name: "DATA_SOURCE_USER", value: monitoringUser },
      { name: "DATA_SOURCE_URI", value: `/postgres?host=${socketDirectory}&sslmode=disable` },
      { name: "GOMAXPROCS", value: "1" },
      { name: "GOMEMLIMIT", value: "40MiB" },
    ],
    ports: [{ name: metricsPortName, containerPort: metricsPort }],
    resources: besidePostgres(db, { usual, guaranteed }),
    volumeMounts: [
      { name: "data", mountPath: volume, readOnly: true },
      { name: "sockets", mountPath: socketDirectory },
    ],
  };
}

/** It uses 32 MB. A memory limit could get it killed, and its Pod unready until it is back: so no limits unless the instance has some. */
const usual = { cpu: "10m", memory: "40Mi" };

/** A scrape is 12 ms of CPU time. With a smaller limit it would take seconds. */
const guaranteed = { cpu: "50m", memory: "80Mi" };

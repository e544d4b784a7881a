// The container beside PostgreSQL's from which backups read the data: pgBackRest's server, for the certificate of a backup run alone.
import type { StatefulSet } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { dataDirectory, socketDirectory, tlsDirectory } from "./configuration.ts";
import { besidePostgres } from "./limits.ts";

type Container = NonNullable<NonNullable<StatefulSet["spec"]>["template"]["spec"]>["containers"][number];

export const dataPort = 8432;

export interface DataServer {
  /** The operator's own: the user's image may lack the program, and a container that ends takes its Pod out of the Services. */
  readonly image: string;
  /** The common name of the certificate that may read. */
  readonly client: string;
}

/** No probe, as for the exporter: a Pod that can't be backed up serves all the same. The data is mounted read-only. */
export function dataServerContainer(db: SampleDB, { image, client }: DataServer): Omit<Container, "securityContext"> {
  return {
    name: "backup",
    image,
    command: ["serve-data", client],
    ports: [{ name: "backup", containerPort: dataPort }],
    // Beside PostgreSQL's, so that what a backup reads counts for this container's memory and not for PostgreSQL's.
    resources: besidePostgres(db, { usual: { cpu: "10m", memory: "32Mi" }, guaranteed: { cpu: "200m", memory: "128Mi" } }),
    volumeMounts: [
      { name: "data", mountPath: dataDirectory.slice(0, dataDirectory.lastIndexOf("/")), readOnly: true },
      { name: "tls", mountPath: tlsDirectory, readOnly: true },
      { name: "sockets", mountPath: socketDirectory },
      { name: "backup", mountPath: "/tmp" },
    ],
  };
}

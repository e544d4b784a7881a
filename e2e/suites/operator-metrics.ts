// The operator's metrics as Prometheus would scrape them, for the length of a suite.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { afterAll, beforeAll } from "vitest";
import { dialFor } from "../../controllers/patroni/dial.ts";
import { kubeConfigFromFile } from "../../runtime/kube/kube-config.ts";
import { operator, system } from "./deployed-operator.ts";
import { kubectl } from "./test-cluster.ts";

const reader = "metrics-reader";

/** By name and labels, as they are written. */
export type Samples = Readonly<Record<string, number>>;

export function parseSamples(exposition: string): Samples {
  const lines = exposition.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}

/** An account that may read the metrics. Called while a suite's file is loaded, after the operator is deployed; returns a scrape of the leader. */
export function operatorMetrics(): () => Promise<Samples> {
  beforeAll(async () => {
    await system.run("create", "serviceaccount", reader);
    const account = `--serviceaccount=sampledb-system:${reader}`;
    await kubectl.run("create", "clusterrolebinding", reader, "--clusterrole=sampledb-metrics-reader", account);
  });
  afterAll(() => kubectl.run("delete", "clusterrolebinding", reader));
  return scrapeLeader;
}

/** Past the API server's proxy, which does not pass on who asks. */
async function scrapeLeader(): Promise<Samples> {
  const token = (await system.run("create", "token", reader)).trim();
  const { name } = await operator.leader();
  const dial = dialFor("port-forward", () => kubeConfigFromFile(kubectl.kubeconfig));
  const socket = await dial({ namespace: "sampledb-system", name, ip: "" }, 8443, AbortSignal.timeout(20_000));
  const secured = connect({ socket, rejectUnauthorized: false }); // made at its start, by itself
  try {
    const headers = { authorization: `Bearer ${token}` };
    const asked = request({ createConnection: () => secured, host: "operator", path: "/metrics", headers }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    const answer = await text(response);
    if (response.statusCode !== 200) throw new Error(`the metrics of ${name} were answered with ${response.statusCode}: ${answer}`);
    return parseSamples(answer);
  } finally {
    secured.destroy();
    socket.destroy();
  }
}

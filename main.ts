// The operator's process: it finds the API server, tells whether it is healthy, and ends when it is told to. Its
// controllers join with the custom resources that they serve.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { KubeConfig } from "@kubernetes/client-node";
import { pino } from "pino";

const usage = `sampledb-operator: runs PostgreSQL on Kubernetes

  --health-probe-bind-address ADDRESS  where /healthz and /readyz are served (default ":8081")
  --version                            print the version and end
  --help                               print this and end
`;

declare const OPERATOR_VERSION: string; // set when the bundle is made

const version = typeof OPERATOR_VERSION === "string" ? OPERATOR_VERSION : packageVersion();

function packageVersion(): string {
  return (JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8")) as { version: string }).version;
}

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      "health-probe-bind-address": { type: "string", default: ":8081" },
      version: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (flags.help) return void process.stdout.write(usage);
  if (flags.version) return void process.stdout.write(`${version}\n`);

  const log = pino({ name: "sampledb-operator" });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromDefault();
  log.info({ version, kubernetes: await apiServerVersion(kubeConfig) }, "connected to the API server");

  const health = createServer(async (incoming, answer) => {
    if (incoming.url === "/healthz") return void answer.end("ok\n");
    if (incoming.url !== "/readyz") return void answer.writeHead(404).end();
    const problem = await apiServerVersion(kubeConfig).then(
      () => undefined,
      (error: Error) => error.message,
    );
    answer.writeHead(problem === undefined ? 200 : 503).end(problem === undefined ? "ok\n" : `api server: ${problem}\n`);
  });
  const { host, port } = bindAddress(flags["health-probe-bind-address"]);
  health.listen(port, host);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      log.info({ signal }, "stopping");
      health.close();
      health.closeAllConnections();
    });
  }
}

/** `:8081` and `127.0.0.1:8081` mean what they mean to every operator. */
function bindAddress(address: string): { host: string; port: number } {
  const match = /^(.*):(\d+)$/.exec(address);
  if (!match) throw new Error(`--health-probe-bind-address must look like :8081 or 127.0.0.1:8081, and is ${address}`);
  return { host: match[1] || "0.0.0.0", port: Number(match[2]) };
}

async function apiServerVersion(kubeConfig: KubeConfig): Promise<string> {
  const server = kubeConfig.getCurrentCluster()?.server;
  if (server === undefined) throw new Error("no cluster is configured: set KUBECONFIG, or run inside of one");
  const options = {};
  await kubeConfig.applyToHTTPSOptions(options);
  return await new Promise((resolve, reject) => {
    const call = request(`${server}/version`, { ...options, timeout: 5000 }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      answer.on("end", () => {
        if (answer.statusCode === 200) resolve((JSON.parse(body) as { gitVersion: string }).gitVersion);
        else reject(new Error(`${server} answered ${answer.statusCode}`));
      });
    });
    call.on("timeout", () => call.destroy(new Error(`${server} did not answer within 5 s`)));
    call.on("error", reject);
    call.end();
  });
}

main().catch((error: Error) => {
  process.stderr.write(`sampledb-operator: ${error.message}\n`);
  process.exitCode = 1;
});

// The operator's entry point: flags, signals, and one clear line when it can't start.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, parseFlags, usage } from "./operator/flags.ts";
import { runOperator } from "./operator/operator.ts";
import { loadKubeConfig } from "./runtime/kube/kube-config.ts";
import { createLog } from "./runtime/observability/log.ts";

declare const OPERATOR_VERSION: string; // defined by the bundler
declare const IMAGES_BUILT_FOR: string; // defined by the bundler: the registry of the images that were built with this operator

const version = typeof OPERATOR_VERSION === "string" ? OPERATOR_VERSION : packageVersion();

/** The variables of the process. One that says nothing of the registry gets the one that the bundle was built for. */
const environment = { ...(typeof IMAGES_BUILT_FOR === "string" ? { IMAGE_REGISTRY: IMAGES_BUILT_FOR } : {}), ...process.env };

function packageVersion(): string {
  return (JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8")) as { version: string }).version;
}

async function main(command: Command): Promise<void> {
  if (command.kind === "help") return void process.stdout.write(usage());
  if (command.kind === "version") return void process.stdout.write(`${version}\n`);
  const log = createLog({ level: command.settings.logLevel });
  const end = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      log.info({ signal }, "ending");
      end.abort();
    });
  }
  await runOperator({ settings: command.settings, loadKubeConfig, environment, version, log, signal: end.signal });
  process.exit(); // a reconcile that hangs would keep the process alive, and with it the renewal of the lease
}

try {
  await main(parseFlags(process.argv.slice(2), environment));
} catch (error) {
  process.stderr.write(`sampledb-operator: ${(error as Error).message}\n`);
  process.exit(1); // not only process.exitCode: open handles must not keep a process alive that may not write
}

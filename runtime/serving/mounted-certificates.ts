// A server's certificate that is made elsewhere (OLM, cert-manager, an administrator) and mounted as files; it is read again
// whenever the files change.
import { type FSWatcher, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { describeCertificate, fits } from "../certificates/inspect.ts";
import type { CertifiedKey } from "../certificates/issue.ts";
import { type Cancel, type Clock, systemClock } from "../clock.ts";
import type { Log } from "../observability/log.ts";

export interface MountedOptions {
  readonly directory: string;
  /** Called with each new pair. If it throws, the pair is not used, and is tried again later. */
  readonly onChange: (pair: CertifiedKey) => void;
  readonly log: Pick<Log, "info" | "warn">;
  readonly clock?: Clock;
  /** Default: a minute. Needed because some mounts cause no file events. */
  readonly pollMs?: number;
}

export interface MountedCertificates {
  /** The last complete pair. */
  readonly current: CertifiedKey;
  stop(): void;
}

type Reading = { readonly pair: CertifiedKey } | { readonly problem: string };

/** File names of cert-manager and TLS Secrets, and those of OLM. */
const fileNames = [
  ["tls.crt", "tls.key"],
  ["apiserver.crt", "apiserver.key"],
] as const;

/** A swap causes several events in a row; after the last one the files are complete. */
const quietMs = 50;

/** Throws when the directory has no matching pair. Later this is only logged, and the former pair stays. */
export function watchMountedCertificates(options: MountedOptions): MountedCertificates {
  const { directory, onChange, log, clock = systemClock, pollMs = 60_000 } = options;
  const first = read(directory);
  if ("problem" in first) throw new Error(`no certificate: ${first.problem}`);
  let current = first.pair;
  let reported = "";

  const check = () => {
    const problem = takeUp(read(directory));
    if (problem !== "" && problem !== reported) log.warn({ path: directory }, `the certificate stays as it is: ${problem}`);
    reported = problem;
  };

  const takeUp = (reading: Reading): string => {
    if ("problem" in reading) return reading.problem;
    const { pair } = reading;
    if (isSame(pair, current)) return "";
    try {
      onChange(pair);
    } catch (error) {
      return `the new one is refused: ${error instanceof Error ? error.message : error}`; // e.g. a key too weak for TLS
    }
    current = pair;
    const { notAfter } = describeCertificate(pair.certificate);
    log.info({ path: directory }, `the certificate has been replaced; this one expires at ${notAfter.toISOString()}`);
    return "";
  };

  let cancelPoll: Cancel;
  const poll = () => {
    cancelPoll = clock.schedule(pollMs, poll);
    check();
  };
  cancelPoll = clock.schedule(pollMs, poll);

  let cancelCheck: Cancel = () => {};
  const watcher = tryWatch(directory, log, () => {
    cancelCheck();
    cancelCheck = clock.schedule(quietMs, check);
  });

  return {
    get current() {
      return current;
    },
    stop() {
      watcher?.close();
      cancelCheck();
      cancelPoll();
    },
  };
}

/** Watches the directory: the kubelet swaps the link `..data`, which is no event of the files themselves. */
function tryWatch(directory: string, log: MountedOptions["log"], onEvent: () => void): FSWatcher | undefined {
  const fallBack = (error: unknown) => log.warn({ path: directory, error }, "the certificate is only polled for changes");
  try {
    return watch(directory, { persistent: false }, onEvent).on("error", fallBack);
  } catch (error) {
    fallBack(error); // most likely the node's limit of watches
    return undefined;
  }
}

/** Certificate and key are two files: between two writes they may not match. */
function read(directory: string): Reading {
  for (const [certificateName, keyName] of fileNames) {
    const pair = { certificate: readText(join(directory, certificateName)), key: readText(join(directory, keyName)) };
    if (pair.certificate === undefined || pair.key === undefined) continue;
    const { certificate, key } = pair;
    if (fits(certificate, key)) return { pair: { certificate, key } };
    return { problem: `${keyName} in ${directory} does not fit ${certificateName}` };
  }
  return { problem: `${directory} has neither ${fileNames.map((names) => names.join(" and ")).join(" nor ")} that can be read` };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function isSame(a: CertifiedKey, b: CertifiedKey): boolean {
  return a.certificate === b.certificate && a.key === b.key;
}

// The certificate of a server where somebody else makes it (OLM, cert-manager, an administrator) and mounts it as files:
// taken up again whenever the files change.
import { type FSWatcher, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { describeCertificate, fits } from "../certificates/inspect.ts";
import type { CertifiedKey } from "../certificates/issue.ts";
import { type Cancel, type Clock, systemClock } from "../clock.ts";
import type { Log } from "../observability/log.ts";

export interface MountedOptions {
  readonly directory: string;
  /** Called with each pair that replaces another. When it throws, the pair is not taken, and tried again later. */
  readonly onChange: (pair: CertifiedKey) => void;
  readonly log: Pick<Log, "info" | "warn">;
  readonly clock?: Clock;
  /** A minute unless told: some mounts never tell of a change. */
  readonly pollMs?: number;
}

export interface MountedCertificates {
  /** The last pair that was whole. */
  readonly current: CertifiedKey;
  stop(): void;
}

type Reading = { readonly pair: CertifiedKey } | { readonly problem: string };

/** The names that cert-manager and a TLS Secret have, and those that OLM has besides. */
const fileNames = [
  ["tls.crt", "tls.key"],
  ["apiserver.crt", "apiserver.key"],
] as const;

/** A swap is several events in a row; reading after the last of them finds it whole. */
const quietMs = 50;

/** Throws when the directory has no pair that fits; later, such a state is only reported, and the pair before stays. */
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
      return `the new one is refused: ${error instanceof Error ? error.message : error}`; // a key that TLS finds too weak, say
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

/** Kubernetes swaps the link `..data` beside the files, which is an event of the directory and not of the files. */
function tryWatch(directory: string, log: MountedOptions["log"], onEvent: () => void): FSWatcher | undefined {
  const fallBack = (error: unknown) => log.warn({ path: directory, error }, "the certificate is only polled for changes");
  try {
    return watch(directory, { persistent: false }, onEvent).on("error", fallBack);
  } catch (error) {
    fallBack(error); // too many watches on the node, most likely
    return undefined;
  }
}

/** Certificate and key are two files: between two writes they may not fit each other. */
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

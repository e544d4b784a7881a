// The operator's flags, with the names that users of other operators know.
import { parseArgs } from "node:util";
import { majors } from "../api/sampledb.ts";
import { type DatabaseAccess, databaseAccesses } from "../controllers/patroni/dial.ts";
import type { Limits } from "../controllers/permits/turns.ts";
import { postgresReference } from "../images/names.ts";
import { type LogLevel, logLevels } from "../runtime/observability/log.ts";

/** Each flag: what its value looks like (nothing for a switch), its default, and what it is for. */
const flags = {
  "health-probe-bind-address": ["ADDRESS", ":8081", "where /healthz and /readyz are served; 0 switches it off"],
  "metrics-bind-address": ["ADDRESS", "0", "where /metrics is served; 0 switches it off"],
  "metrics-secure": ["true|false", "true", "metrics over HTTPS, for those whom the API server knows and allows; false only on loopback"],
  "metrics-cert-dir": ["DIRECTORY", "", "the certificate of the metrics; one is made at the start if left out"],
  "pod-monitor-labels": ["LABELS", "", "labels by which a Prometheus finds the monitors of databases, such as release=prometheus"],
  "leader-elect": [undefined, false, "work only while holding the lease, so that several replicas can run"],
  "leader-election-id": ["NAME", "sampledb-operator", "the name of the lease"],
  "leader-election-namespace": ["NAMESPACE", "", "the lease's namespace; the operator's own if left out"],
  "watch-namespaces": ["NAMES", "", "namespaces to work in, with commas between them; all if left out (also WATCH_NAMESPACE)"],
  "max-concurrent-reconciles": ["NUMBER", "4", "how many objects of a kind are worked on at a time"],
  "max-concurrent-backups": ["NUMBER", "20", "how many backups run at once in all; the others wait, and namespaces take turns"],
  "max-concurrent-restores": ["NUMBER", "20", "how many restores run at once in all; they come before backups"],
  "max-concurrent-runs-per-store": ["NUMBER", "10", "how many backups and restores run at once on one bucket, or on one volume"],
  "database-access": [
    databaseAccesses.join("|"),
    "",
    "how the operator reaches databases: by their Pods' addresses (default in a cluster), or through the API server (default elsewhere)",
  ],
  "webhook-bind-address": ["ADDRESS", ":9443", "where the API server asks about changes (ENABLE_WEBHOOKS=false switches it off)"],
  "webhook-cert-dir": [
    "DIRECTORY",
    "",
    "the certificate of the webhooks, as cert-manager and OLM mount it; the operator makes its own if left out",
  ],
  "install-policies": [undefined, false, "install the policies that guard databases, where the operator looks after all namespaces"],
  "log-level": [logLevels.join("|"), "info", "how much is logged"],
  version: [undefined, false, "print the version and end"],
  help: [undefined, false, "print this and end"],
} as const satisfies Record<string, readonly [string | undefined, string | boolean, string]>;

export interface Settings {
  readonly healthAddress: string;
  readonly metricsAddress: string;
  readonly metricsSecure: boolean;
  readonly metricsCertificates: string | undefined;
  readonly podMonitorLabels: Readonly<Record<string, string>>;
  readonly leaderElect: boolean;
  readonly leaderElectionId: string;
  readonly leaderElectionNamespace: string | undefined;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly maxConcurrentReconciles: number;
  /** How many backups and restores run at once. */
  readonly runLimits: Limits;
  readonly databaseAccess: DatabaseAccess;
  readonly webhooks: boolean;
  readonly webhookAddress: string;
  readonly webhookCertificates: string | undefined;
  readonly installPolicies: boolean;
  readonly logLevel: LogLevel;
  /** The database image of each major. */
  readonly postgresImages: Readonly<Record<number, string>>;
}

export type Command = { readonly kind: "help" } | { readonly kind: "version" } | { readonly kind: "run"; readonly settings: Settings };

/** A flag that is wrong, in one sentence that names it. */
export class WrongFlag extends Error {
  override readonly name = "WrongFlag";
}

export function parseFlags(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): Command {
  const values = parse(args);
  if (values["help"] === true) return { kind: "help" };
  if (values["version"] === true) return { kind: "version" };
  const text = (name: keyof typeof flags) => String(values[name] ?? "");
  const namespaces = namespaceList(text("watch-namespaces") || (environment["WATCH_NAMESPACE"] ?? ""));
  return {
    kind: "run",
    settings: {
      healthAddress: text("health-probe-bind-address"),
      metricsAddress: text("metrics-bind-address"),
      metricsSecure: choice("--metrics-secure", text("metrics-secure"), ["true", "false"]) === "true",
      metricsCertificates: text("metrics-cert-dir") || undefined,
      podMonitorLabels: labels("--pod-monitor-labels", text("pod-monitor-labels")),
      leaderElect: values["leader-elect"] === true,
      leaderElectionId: objectName("--leader-election-id", text("leader-election-id")),
      leaderElectionNamespace: text("leader-election-namespace") || undefined,
      namespaces,
      maxConcurrentReconciles: count("--max-concurrent-reconciles", text("max-concurrent-reconciles")),
      runLimits: {
        backups: count("--max-concurrent-backups", text("max-concurrent-backups")),
        restores: count("--max-concurrent-restores", text("max-concurrent-restores")),
        perStore: count("--max-concurrent-runs-per-store", text("max-concurrent-runs-per-store")),
      },
      databaseAccess: choice("--database-access", text("database-access") || usualAccess(environment), databaseAccesses),
      webhooks: choice("ENABLE_WEBHOOKS", environment["ENABLE_WEBHOOKS"] || "true", ["true", "false"]) === "true",
      webhookAddress: text("webhook-bind-address"),
      webhookCertificates: text("webhook-cert-dir") || undefined,
      installPolicies: values["install-policies"] === true,
      logLevel: choice("--log-level", text("log-level"), logLevels),
      postgresImages: postgresImages(environment),
    },
  };
}

export function usage(): string {
  const rows = Object.entries(flags).map(([name, [value, initial, meaning]]) => {
    const shown = value === undefined ? `--${name}` : `--${name} ${value}`;
    return `  ${shown.padEnd(42)} ${meaning}${typeof initial === "string" && initial !== "" ? ` (default ${initial})` : ""}\n`;
  });
  return `sampledb-operator: runs PostgreSQL on Kubernetes\n\n${rows.join("")}`;
}

/** As OLM wants them: one variable for each image that is not the operator's own. Without one, the name that the image is built with. */
function postgresImages(environment: Readonly<Record<string, string | undefined>>): Record<number, string> {
  const image = (major: number) => environment[`RELATED_IMAGE_POSTGRES_${major}`] || postgresReference(major, environment);
  return Object.fromEntries(majors.map((major) => [major, image(major)]));
}

function parse(args: readonly string[]): Record<string, string | boolean | undefined> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, [value, initial]]) => [name, { type: value === undefined ? "boolean" : "string", default: initial }]),
  ) as Record<string, { type: "boolean" | "string"; default: string | boolean }>;
  try {
    return parseArgs({ args: args.flatMap(asGo), options, allowPositionals: false }).values as Record<string, string | boolean | undefined>;
  } catch (error) {
    const [sentence] = (error as Error).message.split(". ");
    throw new WrongFlag(`${sentence}: --help lists the flags`);
  }
}

/** Go's operators take `-flag`, `--switch=true` and `--switch=false` as well, and manifests are copied from one to another. */
function asGo(argument: string): string[] {
  const flag = argument.replace(/^-(?=[a-z]{2})/, "--");
  const [, name, value] = /^(--(?:leader-elect|install-policies|help|version))=(true|false)$/.exec(flag) ?? [];
  if (name === undefined) return [flag];
  return value === "true" ? [name] : [];
}

/** Every Pod has this variable; a developer's machine has none, and no way to the Pods' addresses. */
function usualAccess(environment: Readonly<Record<string, string | undefined>>): DatabaseAccess {
  return environment["KUBERNETES_SERVICE_HOST"] ? "direct" : "port-forward";
}

function namespaceList(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (text.trim() === "") return [];
  return [...new Set(names.map((name) => objectName("--watch-namespaces", name)))];
}

function labels(flag: string, text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(pairs.map((pair) => label(flag, pair.trim())));
}

function label(flag: string, pair: string): readonly [string, string] {
  const [, name, value] = /^((?:[a-z0-9.-]{1,253}\/)?[\w.-]{1,63})=([\w.-]{0,63})$/.exec(pair) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new WrongFlag(`${flag} must look like name=value,name=value, and has ${JSON.stringify(pair)}`);
}

function objectName(flag: string, name: string): string {
  if (/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) return name;
  throw new WrongFlag(`${flag} must have names of a-z, 0-9 and - in it, and has ${JSON.stringify(name)}`);
}

function count(flag: string, text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new WrongFlag(`${flag} must be a number from 1 to 999, and is ${JSON.stringify(text)}`);
}

function choice<T extends string>(flag: string, text: string, choices: readonly T[]): T {
  const chosen = choices.find((value) => value === text);
  if (chosen !== undefined) return chosen;
  throw new WrongFlag(`${flag} must be one of ${choices.join(", ")}, and is ${JSON.stringify(text)}`);
}

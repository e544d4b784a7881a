import { expect, test } from "vitest";
import { databaseImages } from "../images/catalog.ts";
import { imageReference } from "../images/definition.ts";
import { parseFlags, usage } from "./flags.ts";

const settings = (args: string[], environment = {}) => {
  const command = parseFlags(args, environment);
  if (command.kind !== "run") throw new Error(`${command.kind} in place of run`);
  return command.settings;
};

test("without flags the operator works in all namespaces, without election, with health and webhooks, without metrics", () => {
  expect(settings([])).toEqual({
    healthAddress: ":8081",
    metricsAddress: "0",
    metricsSecure: true,
    metricsCertificates: undefined,
    podMonitorLabels: {},
    leaderElect: false,
    leaderElectionId: "sampledb-operator",
    leaderElectionNamespace: undefined,
    namespaces: [],
    maxConcurrentReconciles: 4,
    runLimits: { backups: 20, restores: 20, perStore: 10 },
    databaseAccess: "port-forward",
    webhooks: true,
    webhookAddress: ":9443",
    webhookCertificates: undefined,
    installPolicies: false,
    logLevel: "info",
    postgresImages: { 15: "localhost/sampledb/postgres:15", 17: "localhost/sampledb/postgres:17" },
  });
});

test("the environment names the images, as OLM requires; an empty value counts as none", () => {
  const environment = { RELATED_IMAGE_POSTGRES_17: "registry.example.com/postgres:17", RELATED_IMAGE_POSTGRES_15: "" };
  expect(settings([], environment).postgresImages).toEqual({
    15: "localhost/sampledb/postgres:15",
    17: "registry.example.com/postgres:17",
  });
});

test("without a word about images, they are those that are built and brought to the nodes", () => {
  expect(Object.values(settings([], process.env).postgresImages).sort()).toEqual(databaseImages().map(imageReference).sort());
  const elsewhere = settings([], { IMAGE_REGISTRY: "registry.example.com/team" }).postgresImages;
  expect(elsewhere).toMatchObject({ 17: "registry.example.com/team/sampledb/postgres:17" });
});

test.each([
  [["--metrics-bind-address=:8443"], { metricsAddress: ":8443" }],
  [["--metrics-bind-address", "127.0.0.1:8080", "--metrics-secure=false"], { metricsAddress: "127.0.0.1:8080", metricsSecure: false }],
  [
    ["--pod-monitor-labels=release=prometheus, example.com/team=a"],
    { podMonitorLabels: { release: "prometheus", "example.com/team": "a" } },
  ],
  [["-leader-elect"], { leaderElect: true }],
  [["--leader-elect=true", "--leader-election-id=mine"], { leaderElect: true, leaderElectionId: "mine" }],
  [["--leader-elect=false"], { leaderElect: false }],
  [["--watch-namespaces=b, a,b"], { namespaces: ["b", "a"] }],
  [["--max-concurrent-reconciles=16"], { maxConcurrentReconciles: 16 }],
  [["--database-access=direct"], { databaseAccess: "direct" }],
  [["--webhook-cert-dir=/certs", "--log-level=debug"], { webhookCertificates: "/certs", logLevel: "debug" }],
])("the flags %j", (args, expected) => {
  expect(settings(args)).toMatchObject(expected);
});

test("the environment is read under the names that other operators use; a flag takes precedence", () => {
  expect(settings([], { WATCH_NAMESPACE: "a,b", ENABLE_WEBHOOKS: "false" })).toMatchObject({ namespaces: ["a", "b"], webhooks: false });
  expect(settings(["--watch-namespaces=c"], { WATCH_NAMESPACE: "a" })).toMatchObject({ namespaces: ["c"] });
  expect(settings([], { WATCH_NAMESPACE: "" })).toMatchObject({ namespaces: [] });
});

test("in a cluster the databases' Pods are reached by their addresses, unless a flag says otherwise", () => {
  const inCluster = { KUBERNETES_SERVICE_HOST: "10.96.0.1" };
  expect(settings([], inCluster)).toMatchObject({ databaseAccess: "direct" });
  expect(settings(["--database-access=port-forward"], inCluster)).toMatchObject({ databaseAccess: "port-forward" });
});

test.each([
  [["--no-such-flag"], {}, "Unknown option '--no-such-flag': --help lists the flags"],
  [["serve"], {}, "Unexpected argument 'serve'"],
  [["--log-level=loud"], {}, '--log-level must be one of debug, info, warn, error, and is "loud"'],
  [["--max-concurrent-backups=0"], {}, '--max-concurrent-backups must be a number from 1 to 999, and is "0"'],
  [["--max-concurrent-reconciles=0"], {}, '--max-concurrent-reconciles must be a number from 1 to 999, and is "0"'],
  [["--watch-namespaces=a,,b"], {}, '--watch-namespaces must have names of a-z, 0-9 and - in it, and has ""'],
  [["--leader-election-id=No!"], {}, '--leader-election-id must have names of a-z, 0-9 and - in it, and has "No!"'],
  [["--pod-monitor-labels=release"], {}, '--pod-monitor-labels must look like name=value,name=value, and has "release"'],
  [["--metrics-secure=maybe"], {}, '--metrics-secure must be one of true, false, and is "maybe"'],
  [["--database-access=exec"], {}, '--database-access must be one of direct, port-forward, and is "exec"'],
  [[], { ENABLE_WEBHOOKS: "off" }, 'ENABLE_WEBHOOKS must be one of true, false, and is "off"'],
])("the flags %j with the environment %j are refused in one sentence", (args, environment, message) => {
  expect(() => parseFlags(args, environment)).toThrow(message);
});

test("help lists every flag with its default", () => {
  expect(parseFlags(["--help"], {})).toEqual({ kind: "help" });
  expect(usage()).toContain("--leader-elect ");
  expect(usage()).toMatch(/--metrics-bind-address ADDRESS .*\(default 0\)/);
  expect(
    usage()
      .split("\n")
      .every((line) => line.length <= 180),
  ).toBe(true);
});

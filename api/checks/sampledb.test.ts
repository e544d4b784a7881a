import { expect, test } from "vitest";
import { checkSampleDB } from "./sampledb.ts";
import { describeViolations } from "./violation.ts";
import { sampleDB, spread, testViolations, type ViolationTable } from "./violation-table.ts";

const everything = sampleDB({
  replicas: 3,
  resources: {
    requests: { cpu: "500m", memory: "1Gi", "hugepages-2Mi": "64Mi" },
    limits: { cpu: 2, memory: "1024Mi", "hugepages-2Mi": "64Mi" },
  },
  nodeSelector: { "kubernetes.io/arch": "amd64", disk: "ssd" },
  tolerations: [
    { operator: "Exists" },
    { key: "dedicated", value: "db", effect: "NoSchedule" },
    { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {
            matchExpressions: [{ key: "cpus", operator: "Gt", values: ["4"] }],
            matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["n"] }],
          },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "x", operator: "Exists" }] } },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          podAffinityTerm: {
            topologyKey: "zone",
            labelSelector: { matchLabels: { app: "x" } },
            matchLabelKeys: ["rev"],
            namespaces: ["a"],
          },
        },
      ],
    },
  },
  ...spread(
    { minDomains: 2 },
    { whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] } },
  ),
  podMetadata: { labels: { team: "a", "example.com/tier": "gold" }, annotations: { "Example.com/Note": "any text: ä\n" } },
  postgresql: {
    parameters: Object.fromEntries([
      ...Array.from({ length: 60 }, (_, index) => [`ext.setting_${index}`, index]),
      ["work_mem", "64MB"],
      ["shared_buffers", "1GB"],
      ["random_page_cost", "1.1"],
      ["synchronous_commit", "remote_apply"],
    ]),
    hba: ["hostssl all all 10.0.0.0/8 scram-sha-256", "hostssl all all fd00::/8 cert map=people"],
  },
  services: { readWrite: { type: "LoadBalancer", annotations: { "example.com/internal": "true" } } },
  backup: {
    schedules: [
      { name: "daily", schedule: "0 3 * * *", timeZone: "Europe/Berlin" },
      { name: "hourly", schedule: "@hourly" },
    ],
  },
});

test("the smallest spec and one with everything are right", () => {
  expect(checkSampleDB(sampleDB({}))).toEqual([]);
  expect(checkSampleDB(everything)).toEqual([]);
});

test("checking everything takes far less than a millisecond", () => {
  for (let warm = 0; warm < 200; warm++) checkSampleDB(everything);
  const times = Array.from({ length: 201 }, () => {
    const begin = performance.now();
    checkSampleDB(everything);
    return performance.now() - begin;
  });
  expect(Math.min(...times)).toBeLessThan(0.5); // the least: other work on the machine only adds
});

const table: ViolationTable = {
  names: [
    [
      { nodeSelector: { "a b": "x" } },
      "spec.nodeSelector[a b]",
      '"a b" is not a key; a key is a name, or a domain, a slash and a name, such as example.com/team',
    ],
    [{ nodeSelector: { "": "x" } }, "spec.nodeSelector[]", '"" is not a key'],
    [{ nodeSelector: { "a/b/c": "x" } }, "spec.nodeSelector[a/b/c]", '"a/b/c" has more than one slash'],
    [{ nodeSelector: { "/b": "x" } }, "spec.nodeSelector[/b]", '"/b" has a prefix that is no domain'],
    [
      { podMetadata: { labels: { "Example.com/b": "x" } } },
      "spec.podMetadata.labels[Example.com/b]",
      '"Example.com/b" has a prefix that is no domain',
    ],
    [
      { podMetadata: { labels: { ["a".repeat(64)]: "x" } } },
      `spec.podMetadata.labels[${"a".repeat(64)}]`,
      "has a name of 64 characters; at most 63 are allowed",
    ],
    [
      { podMetadata: { labels: { [`${"a".repeat(254)}/b`]: "x" } } },
      `spec.podMetadata.labels[${"a".repeat(254)}/b]`,
      "has a domain of 254 characters; at most 253 are allowed",
    ],
    [
      { podMetadata: { labels: { "sampledb.io/role": "x" } } },
      "spec.podMetadata.labels[sampledb.io/role]",
      "is under sampledb.io/, which is the operator's own; any other domain is allowed",
    ],
    [
      { podMetadata: { annotations: { "x.SampleDB.io/a": "x" } } },
      "spec.podMetadata.annotations[x.SampleDB.io/a]",
      "which is the operator's own",
    ],
    [{ podMetadata: { annotations: { "a:b": "x" } } }, "spec.podMetadata.annotations[a:b]", '"a:b" is not a key'],
    [
      { podMetadata: { annotations: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`a${i + 10}`, "x".repeat(16_384)])) } },
      "spec.podMetadata.annotations",
      `the keys and values have ${17 * 16_387} bytes together; at most 262144 (256 KiB) are allowed`,
    ],
    [{ services: { readOnly: { annotations: { "-": "x" } } } }, "spec.services.readOnly.annotations[-]", '"-" is not a key'],
  ],
  "the rest": [
    [{ postgresql: { parameters: { wal_level: "logical" } } }, "spec.postgresql.parameters[wal_level]", '"wal_level" can\'t be set'],
    [
      { postgresVersion: 15, postgresql: { parameters: { summarize_wal: "on" } } },
      "spec.postgresql.parameters[summarize_wal]",
      "PostgreSQL 15",
    ],
    [{ postgresql: { hba: ["local all all peer", "host all all all trust"] } }, "spec.postgresql.hba[1]", "use scram-sha-256"],
    [
      { backup: { schedules: [{ name: "a", schedule: "0 3 * * 8" }] } },
      "spec.backup.schedules[0].schedule",
      '"0 3 * * 8" has "8" as weekday',
    ],
    [
      { backup: { schedules: [{ name: "a", schedule: "@daily", timeZone: "Local" }] } },
      "spec.backup.schedules[0].timeZone",
      '"Local" is not a time zone',
    ],
  ],
};

testViolations(table);

test("all that is wrong is told at once, in one line where one is wanted", () => {
  const violations = checkSampleDB(sampleDB({ nodeSelector: { "a b": "x" }, postgresql: { hba: ["nonsense"] } }));
  expect(violations.map(({ field }) => field)).toEqual(["spec.nodeSelector[a b]", "spec.postgresql.hba[0]"]);
  expect(describeViolations(violations)).toMatch(/^spec\.nodeSelector\[a b\]: .*; spec\.postgresql\.hba\[0\]: "nonsense" does not begin/);
});

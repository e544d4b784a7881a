import { expect, test } from "vitest";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { hostBasedAuthentication } from "./configuration.ts";
import { exporter } from "./exporter.ts";
import { podMonitor } from "./monitoring.ts";
import { sampleDB } from "./sampledb.fixture.ts";

const both = { cpu: "50m", memory: "80Mi" };

test.each<[string, SampleDB["spec"]["resources"], { limits: object | undefined; guaranteed: boolean }]>([
  ["no resources", undefined, { limits: undefined, guaranteed: false }],
  ["requests alone", { requests: { cpu: "1", memory: "1Gi" } }, { limits: undefined, guaranteed: false }],
  ["limits of CPU and memory", { limits: { cpu: "1", memory: "1Gi" } }, { limits: both, guaranteed: true }],
  [
    "requests that equal the limits, in other units",
    { requests: { cpu: "1000m", memory: "1024Mi" }, limits: { cpu: 1, memory: "1Gi" } },
    { limits: both, guaranteed: true },
  ],
  ["requests below limits", { requests: { cpu: "500m" }, limits: { cpu: "1", memory: "1Gi" } }, { limits: both, guaranteed: false }],
  ["a limit of memory alone", { limits: { memory: "1Gi" } }, { limits: { memory: "80Mi" }, guaranteed: false }],
])("the exporter has limits where the instance has some, and keeps a Guaranteed Pod Guaranteed: %s", (_, resources, expected) => {
  const { requests, limits } = exporter(sampleDB(resources ? { resources } : {}), "image").resources ?? {};
  expect(limits).toEqual(expected.limits);
  expect(JSON.stringify(requests) === JSON.stringify(limits)).toBe(expected.guaranteed);
});

test("the exporter has no probe that could make its Pod unready, and no password", () => {
  const container = exporter(sampleDB({}), "image");
  expect(Object.keys(container).filter((name) => /probe|lifecycle/i.test(name))).toEqual([]);
  expect(container.env?.filter(({ name, valueFrom }) => /pass/i.test(name) || valueFrom)).toEqual([]);
  expect(container.volumeMounts?.find(({ name }) => name === "data")?.readOnly).toBe(true);
});

test("the exporter has a collector for checkpoints from PostgreSQL 17 on", () => {
  const flags = (postgresVersion: 15 | 17) => exporter(sampleDB({ postgresVersion }), "image").command?.slice(2);
  expect([flags(15), flags(17)]).toEqual([[], ["--collector.stat_checkpointer"]]);
});

test("the exporter's role gets in by the socket only, whatever the user's pg_hba lines say", () => {
  const lines = hostBasedAuthentication(sampleDB({ postgresql: { hba: ["host all all all trust"] } }));
  expect(lines.filter((line) => line.includes("monitor"))).toEqual(["local all monitor peer map=monitor", "host all monitor all reject"]);
  expect(lines.at(-1)).toBe("host all all all trust");
});

test("the PodMonitor has the labels of the flag, and they never replace the operator's", () => {
  const { metadata, spec } = podMonitor(sampleDB({}), { release: "prometheus", "sampledb.io/name": "other" });
  expect(metadata.labels).toMatchObject({ release: "prometheus", "sampledb.io/name": "orders" });
  expect(metadata.ownerReferences?.[0]).toMatchObject({ kind: "SampleDB", name: "orders", controller: true });
  expect(spec.podMetricsEndpoints[0]?.relabelings).toEqual([
    { sourceLabels: ["__meta_kubernetes_pod_label_sampledb_io_name"], targetLabel: "name" },
  ]);
});

import { describe, expect, test } from "vitest";
import { compareQuantities } from "../../kubernetes/quantity.ts";
import { image } from "./children.fixture.ts";
import { sampleDB } from "./sampledb.fixture.ts";
import { type Tried, trialJob, trialSettings, trialSubject } from "./trial.ts";

type Resources = Tried["running"];
const tried: Tried = { digest: "digest", image, asked: true, running: undefined };
const container = (spec: Parameters<typeof sampleDB>[0], running?: Resources) =>
  trialJob(sampleDB(spec), { ...tried, running }).spec?.template.spec?.containers[0];

describe("a trial requests the difference to the instances' resources", () => {
  test.each<[string, Resources, Resources, Record<string, string>]>([
    [
      "when the change wants more CPU and memory",
      { requests: { cpu: "2", memory: "3Gi" } },
      { requests: { cpu: "500m", memory: "1Gi" } },
      { cpu: "1500m", memory: "2Gi" },
    ],
    [
      "of nothing when resources stay the same, in other units",
      { requests: { cpu: "1", memory: "1Gi" } },
      { requests: { cpu: "1000m", memory: "1024Mi" } },
      { cpu: "0", memory: "0" },
    ],
    [
      "of nothing when the change wants less",
      { requests: { cpu: "100m", memory: "1Gi" } },
      { requests: { cpu: "1", memory: "2Gi" } },
      { cpu: "0", memory: "0" },
    ],
    [
      "of one resource when the change wants more of it alone",
      { requests: { cpu: "2", memory: "1Gi" } },
      { requests: { cpu: "1", memory: "2Gi" } },
      { cpu: "1", memory: "0" },
    ],
    [
      "of everything when the instances had no resources",
      { requests: { cpu: "2", memory: "1Gi" } },
      undefined,
      { cpu: "2", memory: "1Gi" },
    ],
    [
      "by the limits where there are no requests",
      { limits: { cpu: 64, memory: "512Gi" } },
      { limits: { cpu: "4" } },
      { cpu: "60", memory: "512Gi" },
    ],
    ["of nothing when the change removes all resources", undefined, { requests: { cpu: "1", memory: "1Gi" } }, { cpu: "0", memory: "0" }],
    [
      "of an extended resource, too",
      { requests: { "example.com/disk": 2 } },
      { requests: { "example.com/disk": "1" } },
      { "example.com/disk": "1" },
    ],
  ])("%s", (_, resources, running, expected) => {
    const { requests = {} } = container(resources ? { resources } : {}, running)?.resources ?? {};
    for (const [name, value] of Object.entries(expected)) expect(compareQuantities(requests[name] ?? "", value), name).toBe(0);
  });

  test("but not for huge pages, whose request must equal their limit", () => {
    const resources = { limits: { memory: "1Gi", "hugepages-2Mi": "1Gi" }, requests: { "hugepages-2Mi": "1Gi" } };
    expect(container({ resources }, resources)?.resources).toEqual({
      limits: resources.limits,
      requests: { cpu: "1000000n", memory: "0n" },
    });
  });

  test("and has the limits of an instance, because PostgreSQL must start within them", () => {
    expect(container({ resources: { limits: { memory: "1Gi", cpu: 2 } } })?.resources?.limits).toEqual({ memory: "1Gi", cpu: "2" });
  });
});

describe("the place of a trial", () => {
  test("is where instances may run, and no anti-affinity keeps it away from them", () => {
    const term = { labelSelector: {}, topologyKey: "kubernetes.io/hostname" };
    const nodeAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "Exists" as const }] } },
      ],
    };
    const db = sampleDB({
      nodeSelector: { disk: "ssd" },
      affinity: { nodeAffinity, podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    });
    const spec = trialJob(db, tried).spec?.template.spec;
    expect(spec).toMatchObject({ nodeSelector: { disk: "ssd" }, affinity: { nodeAffinity } });
    expect(spec?.affinity).not.toHaveProperty("podAntiAffinity");
    expect(spec).not.toHaveProperty("topologySpreadConstraints");
  });

  test.each<[string, Parameters<typeof sampleDB>[0], object]>([
    [
      "required Pod affinity",
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {}, topologyKey: "rack" }] } } },
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "rack" }] } } },
    ],
    [
      "a strict spread constraint",
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule" }] },
      { topologySpreadConstraints: [{ topologyKey: "rack", labelSelector: { matchLabels: { "sampledb.io/name": "orders" } } }] },
    ],
  ])("covers %s, so the trial finds out whether a node fits", (_, spec, expected) => {
    expect(trialJob(sampleDB(spec), tried).spec?.template.spec).toMatchObject(expected);
    expect(trialSubject(sampleDB(spec), image)).not.toEqual(trialSubject(sampleDB(), image));
  });

  test("does not cover a preferred spread constraint, which can't keep a Pod from running", () => {
    const wish = { maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "ScheduleAnyway" } as const;
    expect(trialSubject(sampleDB({ topologySpreadConstraints: [wish] }), image)).toEqual(trialSubject(sampleDB(), image));
  });
});

test("the settings of a trial are quoted for postgresql.conf", () => {
  const db = sampleDB({ postgresql: { parameters: { "my.path": "C:\\it's", work_mem: "4MB" } } });
  const lines = trialSettings(db, "digest").data?.["postgresql.conf"]?.split("\n");
  expect(lines).toContain("my.path = 'C:\\\\it''s'");
  expect(lines).toContain("work_mem = '4MB'");
});

describe("a trial covers", () => {
  const subject = (spec: Parameters<typeof sampleDB>[0], of = image) => JSON.stringify(trialSubject(sampleDB(spec), of));

  test.each<[string, Parameters<typeof sampleDB>[0], string?]>([
    ["another image", {}, "other"],
    ["a parameter of PostgreSQL", { postgresql: { parameters: { work_mem: "8MB" } } }],
    ["a line of pg_hba.conf", { postgresql: { hba: ["host all all all reject"] } }],
    ["resources", { resources: { requests: { cpu: 1 } } }],
    ["a node selector", { nodeSelector: { disk: "ssd" } }],
  ])("%s", (_, spec, of) => expect(subject(spec, of)).not.toBe(subject({})));

  test.each<[string, Parameters<typeof sampleDB>[0]]>([
    ["the number of instances", { replicas: 3 }],
    ["the size of volumes", { storage: { size: "2Gi" } }],
    ["a hibernation", { powerState: "Hibernated" }],
    ["labels of Pods", { podMetadata: { labels: { a: "b" } } }],
  ])("not %s", (_, spec) => expect(subject(spec)).toBe(subject({})));
});

import { describe, expect, test } from "vitest";
import { compareQuantities } from "../../kubernetes/quantity.ts";
import { image } from "./children.fixture.ts";
import { sampleDB } from "./sampledb.fixture.ts";
import { type Tried, trialJob, trialSettings, trialSubject } from "./trial.ts";

type Resources = Tried["running"];
const tried: Tried = { digest: "digest", image, asked: true, running: undefined };
const container = (spec: Parameters<typeof sampleDB>[0], running?: Resources) =>
  trialJob(sampleDB(spec), { ...tried, running }).spec?.template.spec?.containers[0];

describe("a trial asks for what is wanted beyond what runs, and no more", () => {
  test.each<[string, Resources, Resources, Record<string, string>]>([
    [
      "more of both",
      { requests: { cpu: "2", memory: "3Gi" } },
      { requests: { cpu: "500m", memory: "1Gi" } },
      { cpu: "1500m", memory: "2Gi" },
    ],
    ["the same", { requests: { cpu: "1", memory: "1Gi" } }, { requests: { cpu: "1000m", memory: "1024Mi" } }, { cpu: "0", memory: "0" }],
    ["less", { requests: { cpu: "100m", memory: "1Gi" } }, { requests: { cpu: "1", memory: "2Gi" } }, { cpu: "0", memory: "0" }],
    ["more of one", { requests: { cpu: "2", memory: "1Gi" } }, { requests: { cpu: "1", memory: "2Gi" } }, { cpu: "1", memory: "0" }],
    ["what ran had nothing", { requests: { cpu: "2", memory: "1Gi" } }, undefined, { cpu: "2", memory: "1Gi" }],
    ["limits alone are requests", { limits: { cpu: 64, memory: "512Gi" } }, { limits: { cpu: "4" } }, { cpu: "60", memory: "512Gi" }],
    ["nothing is asked", undefined, { requests: { cpu: "1", memory: "1Gi" } }, { cpu: "0", memory: "0" }],
    [
      "a resource of its own",
      { requests: { "example.com/disk": 2 } },
      { requests: { "example.com/disk": "1" } },
      { "example.com/disk": "1" },
    ],
  ])("%s", (_, resources, running, expected) => {
    const { requests = {} } = container(resources ? { resources } : {}, running)?.resources ?? {};
    for (const [name, value] of Object.entries(expected)) expect(compareQuantities(requests[name] ?? "", value), name).toBe(0);
  });

  test("huge pages are requested as they are limited, which is all that Kubernetes allows", () => {
    const resources = { limits: { memory: "1Gi", "hugepages-2Mi": "1Gi" }, requests: { "hugepages-2Mi": "1Gi" } };
    expect(container({ resources }, resources)?.resources).toEqual({
      limits: resources.limits,
      requests: { cpu: "1000000n", memory: "0n" },
    });
  });

  test("the limits are those of an instance: PostgreSQL has to start within them", () => {
    expect(container({ resources: { limits: { memory: "1Gi", cpu: 2 } } })?.resources?.limits).toEqual({ memory: "1Gi", cpu: "2" });
  });
});

describe("where", () => {
  test("a trial runs where instances may, and is kept away from none of them", () => {
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
      "beside others that have to be there",
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {}, topologyKey: "rack" }] } } },
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "rack" }] } } },
    ],
    [
      "spread over what nodes have to have",
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule" }] },
      { topologySpreadConstraints: [{ topologyKey: "rack", labelSelector: { matchLabels: { "sampledb.io/name": "orders" } } }] },
    ],
  ])("%s: a trial finds out whether there is such a node", (_, spec, expected) => {
    expect(trialJob(sampleDB(spec), tried).spec?.template.spec).toMatchObject(expected);
    expect(trialSubject(sampleDB(spec), image)).not.toEqual(trialSubject(sampleDB(), image));
  });

  test("a wish of where to run is none that can fail: nothing to try", () => {
    const wish = { maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "ScheduleAnyway" } as const;
    expect(trialSubject(sampleDB({ topologySpreadConstraints: [wish] }), image)).toEqual(trialSubject(sampleDB(), image));
  });
});

test("settings are quoted for postgresql.conf", () => {
  const db = sampleDB({ postgresql: { parameters: { "my.path": "C:\\it's", work_mem: "4MB" } } });
  const lines = trialSettings(db, "digest").data?.["postgresql.conf"]?.split("\n");
  expect(lines).toContain("my.path = 'C:\\\\it''s'");
  expect(lines).toContain("work_mem = '4MB'");
});

describe("what is on trial", () => {
  const subject = (spec: Parameters<typeof sampleDB>[0], of = image) => JSON.stringify(trialSubject(sampleDB(spec), of));

  test.each<[string, Parameters<typeof sampleDB>[0], string?]>([
    ["another image", {}, "other"],
    ["a parameter", { postgresql: { parameters: { work_mem: "8MB" } } }],
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

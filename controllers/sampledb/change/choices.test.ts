import { describe, expect, test } from "vitest";
import type { Images } from "../../desired/own-image.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { StatefulSet } from "../../kinds/kubernetes.ts";
import { observed } from "../observations.fixture.ts";
import { Choices, KnownChoices } from "./choices.ts";
import { restartWord } from "./restart-word.ts";

type Spec = Parameters<typeof sampleDB>[0];
const ours: Images = { 15: "ours:15", 17: "ours:17" };
const choices = (spec: Spec = {}, images = ours) => new Choices(sampleDB(spec).spec, images);
const asked = (spec: Spec, restart?: string) => choices(spec).askedDigest(restart);
const tried = (spec: Spec, images = ours) => choices(spec, images).trialDigest;

test("choices are computed once for equal specs, also of different SampleDBs", () => {
  const known = new KnownChoices(ours);
  expect(known.of(sampleDB({ replicas: 2 }).spec)).toBe(known.of(sampleDB({ replicas: 2 }, { name: "other" }).spec));
  expect(known.of(sampleDB({ replicas: 3 }).spec).digest).not.toBe(known.of(sampleDB({ replicas: 2 }).spec).digest);
});

describe("the image", () => {
  test.each<[Spec, string]>([
    [{}, "ours:17"],
    [{ postgresVersion: 15 }, "ours:15"],
    [{ image: "mine:17" }, "mine:17"],
  ])("of the spec %j is %s", (spec, image) => expect(choices(spec).image).toBe(image));

  test("is an error that says what to do where the operator has none for the major", () => {
    expect(() => choices({}, {}).image).toThrow(/no image for PostgreSQL 17: set spec.image/);
  });
});

describe("Pods are made anew by a change of", () => {
  test.each<[string, Spec]>([
    ["spec.image", { image: "mine:17" }],
    ["the major of PostgreSQL", { postgresVersion: 15 }],
    ["resources", { resources: { requests: { cpu: 1 } } }],
    ["a node selector", { nodeSelector: { a: "b" } }],
    ["tolerations", { tolerations: [{ operator: "Exists" }] }],
    ["labels", { podMetadata: { labels: { a: "b" } } }],
    ["pull secrets", { imagePullSecrets: [{ name: "a" }] }],
  ])("%s", (_, spec) => expect(asked(spec)).not.toBe(asked({})));

  test("the restart annotation, to any other value", () => {
    expect(new Set([asked({}), asked({}, "1"), asked({}, "2")]).size).toBe(3);
    const same = choices();
    expect([undefined, "1", undefined].map((word) => same.askedDigest(word))).toEqual([asked({}), asked({}, "1"), asked({})]);
  });

  test.each<[string, Spec]>([
    ["the number of instances", { replicas: 3 }],
    ["the size of volumes", { storage: { size: "9Gi" } }],
    ["a parameter of PostgreSQL, which Patroni applies", { postgresql: { parameters: { max_connections: 9 } } }],
    ["the deletion policy", { deletionPolicy: "Delete" }],
    ["the power state", { powerState: "Hibernated" }],
  ])("not %s", (_, spec) => expect(asked(spec)).toBe(asked({})));

  test("not the operator's own image, so an upgrade of the operator restarts nothing", () => {
    const newer = choices({}, { 17: "newer:17" });
    expect(newer.askedDigest(undefined)).toBe(asked({}));
    expect(newer.image).not.toBe(choices().image);
  });
});

describe("the proof of a trial", () => {
  test("holds for the same parameters in another order", () => {
    const [one, other] = [
      { work_mem: "1MB", max_connections: 9 },
      { max_connections: 9, work_mem: "1MB" },
    ];
    expect(tried({ postgresql: { parameters: one } })).toBe(tried({ postgresql: { parameters: other } }));
  });

  test("does not hold for another image, be it the user's or the operator's", () => {
    expect(new Set([tried({}), tried({ image: "mine:17" }), tried({}, { 17: "newer:17" })]).size).toBe(3);
  });

  test.each<[string, Spec]>([
    ["an image", { image: "mine:17" }],
    ["a setting", { postgresql: { parameters: { work_mem: "1MB" } } }],
    ["resources", { resources: { limits: { memory: "1Gi" } } }],
    ["a node selector", { nodeSelector: { disk: "ssd" } }],
    ["synchronousReplication, which waits for the trial without being tried", { synchronousReplication: "Required" }],
    ["the number of instances", { replicas: 5 }],
    ["a label of Pods", { podMetadata: { labels: { team: "orders" } } }],
  ])("is for a change by the user when the user changed %s", (_, spec) => {
    expect(choices(spec).trialAskedDigest).not.toBe(choices().trialAskedDigest);
  });

  test("is for a change by the operator when only the operator's own image differs", () => {
    expect(choices({}, { 17: "newer:17" }).trialAskedDigest).toBe(choices().trialAskedDigest);
  });
});

test("taking the restart annotation off restarts nothing, because the StatefulSet's value stays in use", () => {
  const statefulSet = { spec: { template: { metadata: { annotations: { "sampledb.io/restart": "1" } } } } } as unknown as StatefulSet;
  expect(restartWord(sampleDB(), observed([], { statefulSet }))).toBe("1");
  expect(restartWord(sampleDB({}, { annotations: { "sampledb.io/restart": "2" } }), observed([], { statefulSet }))).toBe("2");
  expect(restartWord(sampleDB(), observed([]))).toBeUndefined();
});

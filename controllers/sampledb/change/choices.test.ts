import { describe, expect, test } from "vitest";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { StatefulSet } from "../../kinds/kubernetes.ts";
import { observed } from "../observations.fixture.ts";
import { Choices, type Images, KnownChoices } from "./choices.ts";
import { restartWord } from "./restart-word.ts";

type Spec = Parameters<typeof sampleDB>[0];
const ours: Images = { 15: "ours:15", 17: "ours:17" };
const choices = (spec: Spec = {}, images = ours) => new Choices(sampleDB(spec).spec, images);
const asked = (spec: Spec, restart?: string) => choices(spec).askedDigest(restart);
const tried = (spec: Spec, images = ours) => choices(spec, images).trialDigest;

test("a spec that is known is not worked out again, whoever has it; another is", () => {
  const known = new KnownChoices(ours);
  expect(known.of(sampleDB({ replicas: 2 }).spec)).toBe(known.of(sampleDB({ replicas: 2 }, { name: "other" }).spec));
  expect(known.of(sampleDB({ replicas: 3 }).spec).digest).not.toBe(known.of(sampleDB({ replicas: 2 }).spec).digest);
});

describe("the image", () => {
  test.each<[Spec, string]>([
    [{}, "ours:17"],
    [{ postgresVersion: 15 }, "ours:15"],
    [{ image: "mine:17" }, "mine:17"],
  ])("of %j is %s", (spec, image) => expect(choices(spec).image).toBe(image));

  test("one that the operator does not have is said, with what to do", () => {
    expect(() => choices({}, {}).image).toThrow(/no image for PostgreSQL 17: set spec.image/);
  });
});

describe("what makes Pods anew", () => {
  test.each<[string, Spec]>([
    ["an image of the user's", { image: "mine:17" }],
    ["the major", { postgresVersion: 15 }],
    ["resources", { resources: { requests: { cpu: 1 } } }],
    ["a node selector", { nodeSelector: { a: "b" } }],
    ["tolerations", { tolerations: [{ operator: "Exists" }] }],
    ["labels", { podMetadata: { labels: { a: "b" } } }],
    ["pull secrets", { imagePullSecrets: [{ name: "a" }] }],
  ])("%s", (_, spec) => expect(asked(spec)).not.toBe(asked({})));

  test("a word to restart, and another word", () => {
    expect(new Set([asked({}), asked({}, "1"), asked({}, "2")]).size).toBe(3);
    const same = choices();
    expect([undefined, "1", undefined].map((word) => same.askedDigest(word))).toEqual([asked({}), asked({}, "1"), asked({})]);
  });

  test.each<[string, Spec]>([
    ["the number of instances", { replicas: 3 }],
    ["growth", { storage: { size: "9Gi" } }],
    ["settings of PostgreSQL, which Patroni brings in", { postgresql: { parameters: { max_connections: 9 } } }],
    ["the deletion policy", { deletionPolicy: "Delete" }],
    ["hibernation", { powerState: "Hibernated" }],
  ])("not %s", (_, spec) => expect(asked(spec)).toBe(asked({})));

  test("not the operator's own newer image: its upgrade restarts nothing", () => {
    const newer = choices({}, { 17: "newer:17" });
    expect(newer.askedDigest(undefined)).toBe(asked({}));
    expect(newer.image).not.toBe(choices().image);
  });
});

describe("what a trial has proven", () => {
  test("holds for the same wish in another order", () => {
    const [one, other] = [
      { work_mem: "1MB", max_connections: 9 },
      { max_connections: 9, work_mem: "1MB" },
    ];
    expect(tried({ postgresql: { parameters: one } })).toBe(tried({ postgresql: { parameters: other } }));
  });

  test("not for another image, of the user's or of the operator's", () => {
    expect(new Set([tried({}), tried({ image: "mine:17" }), tried({}, { 17: "newer:17" })]).size).toBe(3);
  });

  test.each<[string, Spec]>([
    ["an image", { image: "mine:17" }],
    ["a setting", { postgresql: { parameters: { work_mem: "1MB" } } }],
    ["resources", { resources: { limits: { memory: "1Gi" } } }],
    ["a place", { nodeSelector: { disk: "ssd" } }],
    ["what can't be tried, and waits for the trial all the same", { synchronousReplication: "Required" }],
    ["the number", { replicas: 5 }],
    ["a label", { podMetadata: { labels: { team: "orders" } } }],
  ])("is the user's doing where it is %s of his", (_, spec) => {
    expect(choices(spec).trialAskedDigest).not.toBe(choices().trialAskedDigest);
  });

  test("is the operator's own where it has another image for the same words", () => {
    expect(choices({}, { 17: "newer:17" }).trialAskedDigest).toBe(choices().trialAskedDigest);
  });
});

test("the word to restart is kept when the annotation is taken off: taking it off restarts nothing", () => {
  const statefulSet = { spec: { template: { metadata: { annotations: { "sampledb.io/restart": "1" } } } } } as unknown as StatefulSet;
  expect(restartWord(sampleDB(), observed([], { statefulSet }))).toBe("1");
  expect(restartWord(sampleDB({}, { annotations: { "sampledb.io/restart": "2" } }), observed([], { statefulSet }))).toBe("2");
  expect(restartWord(sampleDB(), observed([]))).toBeUndefined();
});

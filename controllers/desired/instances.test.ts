import { describe, expect, test } from "vitest";
import { image } from "./children.fixture.ts";
import { claim, type InstanceChoices, statefulSet } from "./instances.ts";
import { sampleDB } from "./sampledb.fixture.ts";

const choices: InstanceChoices = { range: { start: 0, count: 1 }, image, asked: "asked", proven: "proven", provenFor: "asked" };

describe("storage", () => {
  const small = sampleDB({ storage: { size: "1Gi", storageClassName: "fast" } });
  const grown = sampleDB({ storage: { size: "5Gi", storageClassName: "fast" } });

  test("growth never changes the claim templates, which can't be changed", () => {
    const claimTemplates = statefulSet(small, choices).spec?.volumeClaimTemplates;
    expect(claimTemplates).toHaveLength(1);
    expect(statefulSet(grown, { ...choices, claimTemplates }).spec?.volumeClaimTemplates).toEqual(claimTemplates);
    expect(JSON.stringify(statefulSet(grown, { ...choices, claimTemplates }))).not.toContain("5Gi");
  });

  test("a claim has the size of now, and is found as the template's are", () => {
    const made = claim(grown, 2);
    const template = statefulSet(small, choices).spec?.volumeClaimTemplates?.[0];
    expect(made.metadata.name).toBe("data-orders-2");
    expect(made.spec?.resources?.requests).toEqual({ storage: "5Gi" });
    expect(made.metadata.labels).toEqual(template?.metadata?.labels);
    expect({ ...made.spec, resources: undefined }).toEqual({ ...template?.spec, resources: undefined });
  });

  test("no class is asked for where none is told: an empty one would mean none at all", () => {
    expect(claim(sampleDB(), 0).spec).not.toHaveProperty("storageClassName");
    expect(claim(small, 0).spec?.storageClassName).toBe("fast");
  });

  test("claims outlive Pods and the StatefulSet", () => {
    expect(statefulSet(small, choices).spec?.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: "Retain", whenScaled: "Retain" });
  });
});

describe("Pods", () => {
  test("are replaced by the operator only, and start all at once", () => {
    expect(statefulSet(sampleDB(), choices).spec).toMatchObject({ updateStrategy: { type: "OnDelete" }, podManagementPolicy: "Parallel" });
  });

  test.each([[{ start: 0, count: 3 }], [{ start: 2, count: 1 }], [{ start: 1, count: 0 }]])("of the range %j", (range) => {
    expect(statefulSet(sampleDB({ replicas: 3 }), { ...choices, range }).spec).toMatchObject({
      replicas: range.count,
      ordinals: { start: range.start },
    });
  });

  test("what they are asked and what is proven do not get mixed up: a proof restarts nothing", () => {
    const one = statefulSet(sampleDB(), choices);
    const other = statefulSet(sampleDB(), { ...choices, proven: "more" });
    expect(other.spec).toEqual(one.spec);
    expect(other.metadata.annotations).not.toEqual(one.metadata.annotations);
  });

  test("a word to restart is in the template, and nothing is where none was said", () => {
    const annotations = (restart?: string) => statefulSet(sampleDB(), { ...choices, restart }).spec?.template.metadata?.annotations;
    expect(annotations("now")).toMatchObject({ "sampledb.io/restart": "now" });
    expect(annotations()).not.toHaveProperty("sampledb.io/restart");
  });

  test("are spread over nodes unless told otherwise; what is told is completed with their labels", () => {
    const constraints = (db = sampleDB()) => statefulSet(db, choices).spec?.template.spec?.topologySpreadConstraints;
    const labelSelector = { matchLabels: { "sampledb.io/name": "orders", "sampledb.io/component": "postgresql" } };
    expect(constraints()).toMatchObject([{ topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway", labelSelector }]);
    const zones = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" as const };
    expect(constraints(sampleDB({ topologySpreadConstraints: [zones] }))).toEqual([{ ...zones, labelSelector }]);
  });
});

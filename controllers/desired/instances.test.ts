import { describe, expect, test } from "vitest";
import { image } from "./children.fixture.ts";
import { claim, type InstanceChoices, statefulSet } from "./instances.ts";
import { sampleDB } from "./sampledb.fixture.ts";

const choices: InstanceChoices = { range: { start: 0, count: 1 }, image, asked: "asked", proven: "proven", provenFor: "asked" };

describe("storage", () => {
  const small = sampleDB({ storage: { size: "1Gi", storageClassName: "fast" } });
  const grown = sampleDB({ storage: { size: "5Gi", storageClassName: "fast" } });

  test("growth leaves the claim templates as they were, because Kubernetes lets nobody change them", () => {
    const claimTemplates = statefulSet(small, choices).spec?.volumeClaimTemplates;
    expect(claimTemplates).toHaveLength(1);
    expect(statefulSet(grown, { ...choices, claimTemplates }).spec?.volumeClaimTemplates).toEqual(claimTemplates);
    expect(JSON.stringify(statefulSet(grown, { ...choices, claimTemplates }))).not.toContain("5Gi");
  });

  test("a claim has the present size, and the labels of the claim template", () => {
    const made = claim(grown, 2);
    const template = statefulSet(small, choices).spec?.volumeClaimTemplates?.[0];
    expect(made.metadata.name).toBe("data-orders-2");
    expect(made.spec?.resources?.requests).toEqual({ storage: "5Gi" });
    expect(made.metadata.labels).toEqual(template?.metadata?.labels);
    expect({ ...made.spec, resources: undefined }).toEqual({ ...template?.spec, resources: undefined });
  });

  test("a claim has no StorageClass when the spec has none: an empty one would mean no class at all", () => {
    expect(claim(sampleDB(), 0).spec).not.toHaveProperty("storageClassName");
    expect(claim(small, 0).spec?.storageClassName).toBe("fast");
  });

  test("the StatefulSet keeps claims when it is scaled down or deleted", () => {
    expect(statefulSet(small, choices).spec?.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: "Retain", whenScaled: "Retain" });
  });
});

describe("Pods", () => {
  test("are replaced by the operator only, and all start at once", () => {
    expect(statefulSet(sampleDB(), choices).spec).toMatchObject({ updateStrategy: { type: "OnDelete" }, podManagementPolicy: "Parallel" });
  });

  test.each([[{ start: 0, count: 3 }], [{ start: 2, count: 1 }], [{ start: 1, count: 0 }]])(
    "have the ordinals of the range %j",
    (range) => {
      expect(statefulSet(sampleDB({ replicas: 3 }), { ...choices, range }).spec).toMatchObject({
        replicas: range.count,
        ordinals: { start: range.start },
      });
    },
  );

  test("do not change when a trial proves more, so a proof restarts nothing", () => {
    const one = statefulSet(sampleDB(), choices);
    const other = statefulSet(sampleDB(), { ...choices, proven: "more" });
    expect(other.spec).toEqual(one.spec);
    expect(other.metadata.annotations).not.toEqual(one.metadata.annotations);
  });

  test("have the restart annotation only when a restart was ordered", () => {
    const annotations = (restart?: string) => statefulSet(sampleDB(), { ...choices, restart }).spec?.template.metadata?.annotations;
    expect(annotations("now")).toMatchObject({ "sampledb.io/restart": "now" });
    expect(annotations()).not.toHaveProperty("sampledb.io/restart");
  });

  test("are spread over nodes by default; the user's constraints get the instances' labels", () => {
    const constraints = (db = sampleDB()) => statefulSet(db, choices).spec?.template.spec?.topologySpreadConstraints;
    const labelSelector = { matchLabels: { "sampledb.io/name": "orders", "sampledb.io/component": "postgresql" } };
    expect(constraints()).toMatchObject([{ topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway", labelSelector }]);
    const zones = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" as const };
    expect(constraints(sampleDB({ topologySpreadConstraints: [zones] }))).toEqual([{ ...zones, labelSelector }]);
  });
});

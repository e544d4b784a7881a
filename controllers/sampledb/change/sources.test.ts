// Whether a change is the user's or the operator's is decided by lists of fields. Each list has every field that its object follows from.
import { expect, test } from "vitest";
import { sampleDBSpec } from "../../../api/sampledb.ts";
import { instancesOf } from "../../desired/children.fixture.ts";
import { dynamicSettings } from "../../desired/configuration.ts";
import { settingsNotes } from "../../desired/held-settings.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import { Choices } from "./choices.ts";

type Spec = NonNullable<Parameters<typeof sampleDB>[0]>;

/** For every field of the spec, a spec that differs from the plain one in this field alone. */
const changes: Readonly<Record<keyof typeof sampleDBSpec.shape, Spec>> = {
  postgresVersion: { postgresVersion: 15 },
  image: { image: "mine:17" },
  replicas: { replicas: 3 },
  storage: { storage: { size: "9Gi" } },
  resources: { resources: { limits: { memory: "8Gi" } } },
  nodeSelector: { nodeSelector: { disk: "ssd" } },
  affinity: { affinity: { podAntiAffinity: {} } },
  tolerations: { tolerations: [{ operator: "Exists" }] },
  topologySpreadConstraints: {
    topologySpreadConstraints: [{ maxSkew: 2, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
  },
  priorityClassName: { priorityClassName: "high" },
  imagePullSecrets: { imagePullSecrets: [{ name: "pull" }] },
  podMetadata: { podMetadata: { labels: { team: "orders" } } },
  postgresql: { postgresql: { parameters: { max_connections: 300 }, hba: ["hostssl all all all scram-sha-256"] } },
  synchronousReplication: { synchronousReplication: "Preferred", replicas: 1 },
  bootstrap: { bootstrap: { databaseName: "other" } },
  services: { services: { readWrite: { type: "LoadBalancer" } } },
  powerState: { powerState: "Hibernated" },
  deletionPolicy: { deletionPolicy: "Delete" },
  deletionProtection: { deletionProtection: true },
  paused: { paused: true },
  backup: { backup: { repository: { volume: { size: "1Gi" } } } },
};

const fields = Object.entries(changes);
const choices = (spec: Spec) => new Choices(sampleDB(spec).spec, { 15: "ours:15", 17: "ours:17" });
const template = (spec: Spec) => {
  const { metadata: _, spec: pod } = instancesOf(sampleDB(spec)).spec?.template ?? {};
  const { image: __, ...container } = pod?.containers[0] ?? {};
  return JSON.stringify([{ ...pod, containers: [container, pod?.containers[1]] }, sampleDB(spec).spec.podMetadata, spec.image]);
};
const settings = (spec: Spec) => dynamicSettings(sampleDB(spec), true);
const noted = (spec: Spec) => JSON.stringify(settingsNotes({ db: sampleDB(spec), restart: undefined }, []));

test("every field of the spec has a change here", () => {
  expect(Object.keys(changes).sort()).toEqual(Object.keys(sampleDBSpec.shape).sort());
});

test.each(fields)("a change of %s that reaches the Pods counts as the user's", (_, spec) => {
  if (template(spec) === template({})) return;
  expect(choices(spec).askedDigest(undefined)).not.toBe(choices({}).askedDigest(undefined));
  expect(choices(spec).trialAskedDigest).not.toBe(choices({}).trialAskedDigest);
});

test.each(fields)("a change of %s that reaches the settings counts as the user's", (_, spec) => {
  if (settings(spec) === settings({})) return;
  expect(noted(spec)).not.toBe(noted({}));
  expect(choices(spec).trialAskedDigest).not.toBe(choices({}).trialAskedDigest);
});

// The changes of a database that the matrix interrupts: from one state to another, each a piece of the spec and what must be so then.
import { expect } from "vitest";
import type { SampleDBStatus } from "../../api/sampledb-status.ts";
import { postgresImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { eventually } from "../../tools/eventually.ts";
import type { KubernetesObject } from "../cluster/kubectl.ts";
import type { Database } from "../database/database.ts";

const minutes = 60_000;

export interface State {
  /** Merged into the spec; null takes a field away. */
  readonly spec: object;
  /** Resolves when the database is as that spec says; fails where it does not come to it. */
  readonly reached: (database: Database) => Promise<void>;
}

export interface Change {
  readonly name: string;
  readonly from: State;
  readonly to: State;
  /** How often the Pod of an instance may be made anew on the way there. */
  readonly podsAnew: number;
  /** Instances that come or go with it, by ordinal. */
  readonly comesOrGoes?: readonly number[];
}

/** Ready, and each Pod is so. */
function running(spec: object, isSo: (pod: KubernetesObject, database: Database) => unknown = () => undefined): State {
  const reached = async (database: Database) => {
    await database.waitReady(6 * minutes);
    for (const pod of await database.pods()) await isSo(pod, database);
  };
  return { spec, reached };
}

function parameter(name: string, spec: string | number | null, shown: string): State {
  return running({ postgresql: { parameters: { [name]: spec } } }, async ({ metadata }, database) => {
    expect(await database.sql(`SHOW ${name}`, { superuser: true, pod: metadata.name })).toBe(shown);
  });
}

function number(replicas: number): State {
  const reached = async (database: Database) => {
    await database.waitReady(6 * minutes);
    expect(await database.instances()).toHaveLength(replicas);
  };
  return { spec: { replicas }, reached };
}

const containerOf = ({ spec }: KubernetesObject) => spec.containers[0];
const [image, otherImage] = [imageReference(postgresImage("17")), imageReference(postgresImage("15-17"))];
const requests = { cpu: "50m", memory: "200Mi" };

const hibernated: State = {
  spec: { powerState: "Hibernated" },
  reached: async (database) => {
    await eventually("it is hibernated", 5 * minutes, async () => {
      const { status, metadata } = await database.get();
      const ready = conditionOf(status, "Ready");
      return ready?.reason === "Hibernated" && ready.observedGeneration === metadata.generation;
    });
    expect(await database.instances()).toEqual([]);
  },
};
const awake = running({ powerState: "Running" });

export const changes: readonly Change[] = [
  { name: "one replica more", from: number(2), to: number(3), podsAnew: 0, comesOrGoes: [2] },
  { name: "one replica fewer", from: number(3), to: number(2), podsAnew: 0, comesOrGoes: [2] },
  { name: "a setting that is reloaded", from: parameter("work_mem", null, "4MB"), to: parameter("work_mem", "7MB", "7MB"), podsAnew: 0 },
  {
    name: "a setting that needs a restart",
    from: parameter("max_connections", null, "100"),
    to: parameter("max_connections", 120, "120"),
    podsAnew: 0,
  },
  {
    name: "resources",
    from: running({ resources: null }, (pod) => expect(containerOf(pod).resources.requests).not.toEqual(requests)),
    to: running({ resources: { requests } }, (pod) => expect(containerOf(pod).resources.requests).toEqual(requests)),
    podsAnew: 1,
  },
  {
    name: "the image of the same major",
    from: running({ image: null }, (pod) => expect(containerOf(pod).image).toBe(image)),
    to: running({ image: otherImage }, (pod) => expect(containerOf(pod).image).toBe(otherImage)),
    podsAnew: 1,
  },
  {
    name: "Pod fields",
    from: running({ podMetadata: null }, ({ metadata }) => expect(metadata.labels.team).toBeUndefined()),
    to: running({ podMetadata: { labels: { team: "orders" } } }, ({ metadata }) => expect(metadata.labels.team).toBe("orders")),
    podsAnew: 1,
  },
  { name: "hibernation", from: awake, to: hibernated, podsAnew: 1, comesOrGoes: [0, 1] },
  { name: "waking", from: hibernated, to: awake, podsAnew: 1, comesOrGoes: [0, 1] },
];

export function conditionOf(status: SampleDBStatus | undefined, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** The operator has seen the spec of now, and is at it. */
export async function midway(database: Database): Promise<void> {
  await eventually(`the change of ${database.name} has begun`, 2 * minutes, async () => {
    const { status, metadata } = await database.get();
    const ready = conditionOf(status, "Ready");
    return ready !== undefined && ready.observedGeneration === metadata.generation && ready.status === "False";
  });
}

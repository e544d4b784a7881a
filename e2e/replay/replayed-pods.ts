// What Patroni writes for a Pod that runs nowhere, as it writes it for one that does.
import { labelNames } from "../../api/labels.ts";
import { endpointOf } from "../../controllers/desired/services.ts";
import { type ConfigMap, configMaps, endpointSlices, type Pod, pods } from "../../controllers/kinds/kubernetes.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { type Key, keyOf } from "../../runtime/kube/object.ts";

/** As a member of Patroni tells of itself on its Pod. */
export async function tellMember(client: KubeClient, pod: Key, leads: boolean, position: number): Promise<void> {
  const common = { conn_url: "postgres://replayed/postgres", api_url: "https://replayed/patroni", state: "running", version: "4.0.7" };
  const member = leads
    ? { ...common, role: "primary", timeline: 1, xlog_location: position }
    : { ...common, role: "replica", timeline: 1, xlog_location: position, replication_state: "streaming" };
  const labels = { [labelNames.role]: leads ? "primary" : "replica" };
  await client.mergePatch(pods, pod, { metadata: { labels, annotations: { status: JSON.stringify(member) } } });
}

/** As Patroni's callback does. */
export async function takeWrites(client: KubeClient, pod: Pod, database: string): Promise<void> {
  const { namespace = "" } = pod.metadata;
  const key = { namespace, name: `${database}-rw` };
  const { addressType } = await client.get(endpointSlices, key);
  await client.mergePatch(endpointSlices, key, { endpoints: [endpointOf(pod, addressType)] });
}

/** Makes this Pod the leader, where nobody leads yet; says who leads. Of two at the same moment one is refused, and asks again. */
export async function lead(client: KubeClient, { namespace, name }: Key, database: string): Promise<string> {
  const key = { namespace, name: `${database}-leader` };
  const lock = await client.get(configMaps, key);
  const holder = lock.metadata.annotations?.["leader"];
  if (holder !== undefined) return holder;
  await client.mergePatch(
    configMaps,
    { namespace, name: `${database}-config` },
    { metadata: { annotations: { initialize: "7500000000000000001" } } },
  );
  await client.mergePatch(configMaps, key, {
    metadata: { resourceVersion: lock.metadata.resourceVersion, annotations: leaderNow(name, 1) },
  });
  return name;
}

/** As the leader renews its lock in every loop. */
export async function renew(client: KubeClient, lock: ConfigMap, position: number): Promise<void> {
  const leader = lock.metadata.annotations?.["leader"];
  if (leader !== undefined) await client.mergePatch(configMaps, keyOf(lock), { metadata: { annotations: leaderNow(leader, position) } });
}

function leaderNow(leader: string, position: number): Record<string, string> {
  return {
    leader,
    renewTime: new Date().toISOString(),
    optime: String(position),
    ttl: "20",
    transitions: "0",
    acquireTime: "2026-01-01T00:00:00Z",
  };
}

// What Kubernetes' own controllers say of an object that they can't bring forward: a quota refuses its Pods, a volume is not attached. Only Events say so.
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { type Event, events } from "../kinds/kubernetes.ts";

export async function lastWarning(
  client: Pick<KubeClient, "list">,
  { metadata: { namespace = "", uid = "" } }: KubeObject,
): Promise<string> {
  const { items } = await client.list(events, { namespace, fieldSelector: `regarding.uid=${uid},type=Warning` });
  const time = (event: Event) => event.series?.lastObservedTime ?? event.deprecatedLastTimestamp ?? event.eventTime ?? "";
  const newest = items.toSorted((a, b) => time(b).localeCompare(time(a)))[0];
  return newest?.note ?? "no reason was given yet";
}

// Converged means quiet: what the operator wrote during a while in which it had no reason to.
import { setTimeout as sleep } from "node:timers/promises";
import type { Kubectl, KubernetesObject } from "../cluster/kubectl.ts";

interface QuietOptions {
  readonly seconds?: number;
  /** Whether nobody but this suite works with the cluster: requests that changed nothing are counted then, too, for all of it. */
  readonly alone: boolean;
}

/** Kinds of which nobody but the operator writes objects while nothing happens. */
const ownKinds = [
  "sampledbs.sampledb.io",
  "backups.sampledb.io",
  "restores.sampledb.io",
  "statefulsets.apps",
  "services",
  "secrets",
  "serviceaccounts",
  "roles.rbac.authorization.k8s.io",
  "rolebindings.rbac.authorization.k8s.io",
  "persistentvolumeclaims",
  "poddisruptionbudgets.policy",
  "jobs.batch",
  "networkpolicies.networking.k8s.io",
];
/** Kinds that Patroni, the kubelet and Kubernetes' own controllers write as well. */
const sharedKinds = ["configmaps", "pods", "endpointslices.discovery.k8s.io", "events.events.k8s.io"];

/** Patroni's store, which it writes every few seconds. */
const isPatronis = ({ kind, metadata }: KubernetesObject) =>
  kind === "ConfigMap" && /-(leader|sync|config|failover|failsafe)$/.test(metadata.name);

/**
 * One sentence for each write of the operator that was seen; empty when it was quiet. By the objects of the namespace (which were
 * there, their versions, and who managed what since when), and by the API server's count of requests where we are alone.
 */
export async function writesWhileQuiet(kubectl: Kubectl, { seconds = 60, alone }: QuietOptions): Promise<string[]> {
  const requestsBefore = alone ? await writeRequests(kubectl) : new Map<string, number>();
  const before = await snapshot(kubectl);
  await sleep(seconds * 1000);
  const after = await snapshot(kubectl);
  const requestsAfter = alone ? await writeRequests(kubectl) : new Map<string, number>();
  return [...changesBetween(before, after), ...moreRequests(requestsBefore, requestsAfter)];
}

async function snapshot(kubectl: Kubectl): Promise<KubernetesObject[]> {
  return await kubectl.list([...ownKinds, ...sharedKinds].join(","), "--show-managed-fields");
}

/** The first witness: objects as they were and as they are. The second: the managed fields of the operator's own names. */
export function changesBetween(before: readonly KubernetesObject[], after: readonly KubernetesObject[]): string[] {
  const old = new Map(before.map((object) => [identity(object), object]));
  const now = new Set(after.map(identity));
  const gone = before
    .filter((object) => !now.has(identity(object)) && isOperators(object) && object["kind"] !== "Event") // those go by age
    .map((object) => `${identity(object)} was deleted`);
  const seen = after.flatMap((object) => {
    const previous = old.get(identity(object));
    const isSame = previous?.["metadata"].resourceVersion === object["metadata"].resourceVersion;
    return isSame || !isOperators(object)
      ? []
      : [`${identity(object)} was ${previous ? "changed" : "created"}${wordsOf(object, previous)}`];
  });
  const stamped = after.flatMap((object) => {
    const known = new Set(stampsOf(old.get(identity(object))));
    return stampsOf(object)
      .filter((stamp) => !known.has(stamp))
      .map((stamp) => `${identity(object)} was written by ${stamp}`);
  });
  return [...gone, ...seen, ...stamped];
}

/** Whether a new version of it is the operator's doing. Of Pods and EndpointSlices the managed fields alone can tell. */
function isOperators(object: KubernetesObject): boolean {
  if (object["kind"] === "Event") return String(object["reportingController"] ?? "").startsWith("sampledb");
  return !["Pod", "EndpointSlice"].includes(object["kind"]) && !isPatronis(object);
}

/** What a person needs to find the cause: the words of an Event, and the conditions that changed. */
function wordsOf(object: KubernetesObject, previous: KubernetesObject | undefined): string {
  if (object["kind"] === "Event") return `: ${object["reason"]} ${object["note"] ?? object["message"]}`;
  const conditions = (told: KubernetesObject | undefined): object[] => told?.["status"]?.conditions ?? [];
  const known = new Set(conditions(previous).map((condition) => JSON.stringify(condition)));
  const changed = conditions(object)
    .map((condition) => JSON.stringify(condition))
    .filter((text) => !known.has(text));
  return changed.length > 0 ? `: ${changed.join(" ")}` : "";
}

function identity({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name} (${metadata.uid})`;
}

/** When the operator last wrote which part of it. Compared with each other alone, so that no clock matters. */
function stampsOf(object: KubernetesObject | undefined): string[] {
  const entries: { manager: string; operation: string; subresource?: string; time?: string }[] = object?.["metadata"].managedFields ?? [];
  return entries
    .filter(({ manager }) => manager.startsWith("sampledb"))
    .map(({ manager, operation, subresource, time }) => `${manager} (${operation}${subresource ? ` of ${subresource}` : ""}, ${time})`);
}

const writeVerbs = ["POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"];

/**
 * The third witness, for writes that change nothing and so leave no trace: the API server's count of write requests of kinds that
 * are the operator's, and of server-side applies of any kind. Patroni and the kubelet apply nothing that way.
 */
async function writeRequests(kubectl: Kubectl): Promise<Map<string, number>> {
  return countWrites(await kubectl.run("get", "--raw", "/metrics"));
}

export function countWrites(metrics: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, labels = "", value = ""] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    const [verb, group, resource, subresource] = [label("verb"), label("group"), label("resource"), label("subresource")];
    const kind = group ? `${resource}.${group}` : resource;
    const isOwn = ownKinds.includes(kind) && (subresource === "" || group === "sampledb.io");
    if (!writeVerbs.includes(verb) || !(isOwn || verb === "APPLY") || label("dry_run") !== "") continue;
    const key = `${verb} ${kind}${subresource && `/${subresource}`}`;
    counts.set(key, (counts.get(key) ?? 0) + Number(value));
  }
  return counts;
}

export function moreRequests(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string[] {
  return [...after]
    .filter(([key, count]) => count > (before.get(key) ?? 0))
    .map(([key, count]) => `${count - (before.get(key) ?? 0)} requests: ${key}`);
}

// An instance as the operator observes it: from its Pod, from Patroni's report on the Pod, and from Patroni's objects. Pure functions.
import { instanceAnnotations } from "../../api/annotations.ts";
import { reasons } from "../../api/reasons.ts";
import { instanceContainer } from "../desired/instances.ts";
import { ordinalOf } from "../desired/names.ts";
import type { Endpoint, Pod } from "../kinds/kubernetes.ts";
import { type Member, memberOf } from "../patroni/member.ts";

export interface Instance {
  readonly podName: string;
  readonly uid: string;
  readonly ordinal: number;
  /** It answers SQL, and its Pod is not being deleted. */
  readonly ready: boolean;
  /** Its Pod is being deleted. */
  readonly going: boolean;
  readonly role: "Primary" | "Replica" | "Unknown";
  readonly timeline: number | undefined;
  readonly node: string | undefined;
  readonly address: string | undefined;
  /** PostgreSQL has been started, and does not answer yet. */
  readonly starting: boolean;
  /** It receives the primary's write-ahead log. */
  readonly streaming: boolean;
  /** Patroni would let it take over: it streams, it is in the leader's failsafe list, and where commits wait, they wait for it, too. */
  readonly mayTakeOver: boolean;
  /** Settings that wait for a restart of PostgreSQL because the user changed them. Undefined where no restart is due for the user. */
  readonly pendingRestart: readonly PendingSetting[] | undefined;
  /** The names of held settings that wait for a restart. They cause none. */
  readonly heldSettings: readonly string[];
  /** The digest of the user's words about the Pods when this Pod was made (`askedDigest` in sampledb/change/choices.ts). */
  readonly asked: string | undefined;
  /** The revision of the StatefulSet that the Pod was made from. */
  readonly revision: string | undefined;
  /** The read-write Service leads to it. */
  readonly takesWrites: boolean;
  /** Why its Pod does not start, in the words of the kubelet or the scheduler; or that its node is lost. */
  readonly problem: Problem | undefined;
  /** Its container has ended, with every process in it, and the kubelet has not started another yet. */
  readonly ended: Ended | undefined;
}

/** As the kubelet reports it. */
interface Ended {
  readonly at: string;
  readonly reason: string;
  readonly exitCode: number;
}

export interface PendingSetting {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

export interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** What other objects than its Pod say about an instance. */
interface Told {
  /** The holder of the leader lock. A Pod on a lost node says for ever that it is the primary, so the lock decides. */
  readonly leads?: string | undefined;
  /** The instances that commits wait for; undefined where commits wait for no instance. */
  readonly synchronous?: ReadonlySet<string> | undefined;
  /** The leader's failsafe list: no other instance may stand for election. Undefined where the leader has written none. */
  readonly failsafe?: ReadonlySet<string> | undefined;
  /** The endpoint of the read-write Service. */
  readonly writesTo?: Endpoint | undefined;
  /** The names of the held settings. */
  readonly held?: readonly string[];
}

export function instanceOf(pod: Pod, { leads, synchronous, failsafe, writesTo, held = [] }: Told): Instance {
  const { name, uid = "", deletionTimestamp, labels = {}, annotations = {} } = pod.metadata;
  const data = memberOf(pod);
  const going = deletionTimestamp !== undefined;
  const streaming = data.replication_state === "streaming";
  const pending = pendingSettings(data);
  const askedFor = pending?.filter((setting) => !held.includes(setting.name));
  const heldSettings = (pending ?? []).map((setting) => setting.name).filter((setting) => held.includes(setting));
  return {
    podName: name,
    uid,
    ordinal: ordinalOf(name),
    ready: !going && isReady(pod),
    going,
    role: roleOf(data, name === leads),
    timeline: Number.isSafeInteger(data.timeline) ? data.timeline : undefined,
    node: pod.spec?.nodeName,
    address: pod.status?.podIP,
    starting: data.state === "starting",
    streaming,
    mayTakeOver: streaming && (synchronous?.has(name) ?? true) && (failsafe?.has(name) ?? true),
    pendingRestart: heldSettings.length > 0 && askedFor?.length === 0 ? undefined : askedFor,
    heldSettings,
    asked: annotations[instanceAnnotations.asked],
    revision: labels["controller-revision-hash"],
    takesWrites: writesTo !== undefined && isAt(pod, writesTo),
    problem: lostNode(pod) ?? (going ? undefined : problemOf(pod)),
    ended: endOf(pod),
  };
}

/** Whether the Pod was made from another template than `newest`, the revision that a Pod made now would have. */
export function isOfOlderMake({ revision }: Pick<Instance, "revision">, newest: string | undefined): boolean {
  return newest !== undefined && revision !== undefined && revision !== newest;
}

/** Whether the endpoint is this Pod. A restart of its node gives a Pod another address, and a later Pod can have its name. */
export function isAt({ metadata: { uid }, status }: Pod, { addresses: [address], targetRef }: Endpoint): boolean {
  return targetRef?.uid === uid && (status?.podIPs?.some(({ ip }) => ip === address) ?? false);
}

/** An instance's position in the write-ahead log, in bytes. It moves all the time, so it must not go into the status. */
export function logPosition(pod: Pod): number | undefined {
  return memberOf(pod).xlog_location;
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function roleOf({ role, state }: Member, leads: boolean): Instance["role"] {
  if (role === undefined || state === "stopped" || state === "crashed") return "Unknown";
  if (role === "primary" || role === "promoted") return leads ? "Primary" : "Unknown";
  return role === "replica" ? "Replica" : "Unknown";
}

function pendingSettings(data: Member): PendingSetting[] | undefined {
  if (data.pending_restart !== true) return undefined;
  return Object.entries(data.pending_restart_reason ?? {}).map(([name, setting]) => ({
    name,
    from: String(setting?.old_value ?? ""),
    to: String(setting?.new_value ?? ""),
  }));
}

export const nodeLost = reasons.nodeLost;

/** For a lost node, Kubernetes sets only the Pod's Ready to False. A kubelet that is alive would set ContainersReady to False, too. */
export function lostNode({ spec, status }: Pod): Problem | undefined {
  const told = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted)?.status;
  const hasGates = (spec?.readinessGates ?? []).length > 0; // such as a load balancer's
  if (hasGates || told("Ready") !== "False" || told("ContainersReady") !== "True") return undefined;
  return { reason: nodeLost, message: `its node ${spec?.nodeName} does not answer` };
}

/** The scheduler's message for a Pod that fits nowhere, or the kubelet's for a container that waits and is not just being made. */
export function problemOf(pod: Pod): Problem | undefined {
  const unscheduled = pod.status?.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (unscheduled) return { reason: unscheduled.reason ?? reasons.unschedulable, message: unscheduled.message ?? "" };
  for (const { state, lastState } of [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]) {
    const waiting = state?.waiting;
    if (!waiting?.reason || waiting.reason === "ContainerCreating" || waiting.reason === "PodInitializing") continue;
    const ended = lastState?.terminated;
    const told =
      waiting.reason === reasons.crashLoopBackOff && ended
        ? `ended with exit code ${ended.exitCode}: ${ended.message ?? ended.reason ?? ""}`
        : undefined;
    return { reason: waiting.reason, message: told ?? waiting.message ?? "" };
  }
  return undefined;
}

/** With any other reason, as ContainerStatusUnknown, the container runtime has lost sight of the container: its processes may still run. */
const seenToEnd = ["Completed", "Error", "OOMKilled"];
/** containerd's exit code for a container whose end it did not see. */
const unknownExitCode = 255;

/** The end of the postgres container. `lastState` counts in CrashLoopBackOff only: otherwise a later container may have been lost since. */
export function endOf({ status }: Pod): Ended | undefined {
  const { state, lastState } = status?.containerStatuses?.find(({ name }) => name === instanceContainer) ?? {};
  const { finishedAt, reason, exitCode } =
    state?.terminated ?? (state?.waiting?.reason === reasons.crashLoopBackOff ? lastState?.terminated : undefined) ?? {};
  if (finishedAt === undefined || reason === undefined || exitCode === undefined) return undefined;
  return seenToEnd.includes(reason) && exitCode !== unknownExitCode ? { at: finishedAt, reason, exitCode } : undefined;
}

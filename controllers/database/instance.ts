// An instance as it is observed: its Pod, and what Patroni writes on it.
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
  /** It answers SQL, and is not going. */
  readonly ready: boolean;
  readonly going: boolean;
  readonly role: "Primary" | "Replica" | "Unknown";
  readonly timeline: number | undefined;
  readonly node: string | undefined;
  readonly address: string | undefined;
  /** PostgreSQL has been started, and does not answer yet. */
  readonly starting: boolean;
  /** It receives what the primary writes. */
  readonly streaming: boolean;
  /** Patroni would let it take over: it receives what the primary writes, which knows of it, and where commits wait, they wait for it too. */
  readonly mayTakeOver: boolean;
  /** Settings that wait for a restart of PostgreSQL, and somebody has asked for them. */
  readonly pendingRestart: readonly PendingSetting[] | undefined;
  /** The names of those that wait, and nobody has asked for. */
  readonly heldSettings: readonly string[];
  /** A digest of what the user had asked for when the Pod was made. */
  readonly asked: string | undefined;
  /** The revision of the StatefulSet that the Pod was made from. */
  readonly revision: string | undefined;
  /** The read-write Service leads to it. */
  readonly takesWrites: boolean;
  /** Why it does not start, in the kubelet's or the scheduler's words; or where it is lost. */
  readonly problem: Problem | undefined;
  /** Its container has ended, with all that ran in it, and no other was started yet. */
  readonly ended: Ended | undefined;
}

/** As the kubelet has it. */
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

/** What others tell of it. */
interface Told {
  /** Who holds Patroni's lock. The Pod of a lost node goes on saying that it is the primary: then the lock decides. */
  readonly leads?: string | undefined;
  /** Those for which commits wait; undefined where they wait for nobody. */
  readonly synchronous?: ReadonlySet<string> | undefined;
  /** Those that the leader has written down to ask while the API server is away; undefined where it has not. Nobody else may stand for election. */
  readonly failsafe?: ReadonlySet<string> | undefined;
  /** Where the read-write Service leads. */
  readonly writesTo?: Endpoint | undefined;
  /** The names of settings that a newer operator has changed by itself. */
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

/** It was made from another template than a Pod would be now, which has this revision. */
export function isOfOlderMake({ revision }: Pick<Instance, "revision">, newest: string | undefined): boolean {
  return newest !== undefined && revision !== undefined && revision !== newest;
}

/** Its address is another one after its node was restarted, and another Pod of its name may have been made. */
export function isAt({ metadata: { uid }, status }: Pod, { addresses: [address], targetRef }: Endpoint): boolean {
  return targetRef?.uid === uid && (status?.podIPs?.some(({ ip }) => ip === address) ?? false);
}

/** Where an instance is in the write-ahead log, in bytes; it moves all the time, so it is for metrics, not for status. */
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

/** Kubernetes takes the readiness of such a Pod and of nothing in it; a kubelet would say it of the containers as well. */
function lostNode({ spec, status }: Pod): Problem | undefined {
  const told = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted)?.status;
  const hasGates = (spec?.readinessGates ?? []).length > 0; // such as a load balancer's
  if (hasGates || told("Ready") !== "False" || told("ContainersReady") !== "True") return undefined;
  return { reason: nodeLost, message: `its node ${spec?.nodeName} does not answer` };
}

/** What the kubelet says of a container that waits and is not just being made, or the scheduler of a Pod that fits nowhere. */
export function problemOf(pod: Pod): Problem | undefined {
  const unscheduled = pod.status?.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (unscheduled) return { reason: unscheduled.reason ?? reasons.unschedulable, message: unscheduled.message ?? "" };
  for (const { state, lastState } of pod.status?.containerStatuses ?? []) {
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

/** Others, as ContainerStatusUnknown, say that the container runtime has lost sight of it: its processes may well run. */
const seenToEnd = ["Completed", "Error", "OOMKilled"];
/** What containerd says where it does not know. */
const unknownExitCode = 255;

/** A container that waits for another reason may be one that was lost, after an earlier one that ended. */
export function endOf({ status }: Pod): Ended | undefined {
  const { state, lastState } = status?.containerStatuses?.find(({ name }) => name === instanceContainer) ?? {};
  const { finishedAt, reason, exitCode } =
    state?.terminated ?? (state?.waiting?.reason === reasons.crashLoopBackOff ? lastState?.terminated : undefined) ?? {};
  if (finishedAt === undefined || reason === undefined || exitCode === undefined) return undefined;
  return seenToEnd.includes(reason) && exitCode !== unknownExitCode ? { at: finishedAt, reason, exitCode } : undefined;
}

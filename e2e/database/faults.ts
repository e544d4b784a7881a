// What is done to a database's containers from the machine they run on, so that neither kubelet nor API server has a hand in it.
import { randomUUID } from "node:crypto";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import { runInside } from "../cluster/machine.ts";
import { containerdSocket } from "../cluster/parts.ts";

/** A container by what stays true of it while nobody can ask the API server. */
export interface ContainerOnNode {
  readonly node: string;
  readonly id: string;
}

const ctr = ["ctr", "--address", containerdSocket, "--namespace", "k8s.io", "tasks"];

/** The container that runs now, also one that comes before the others. To be asked for before the cut. */
export async function findContainer(kubectl: Kubectl, pod: string, name = "postgres"): Promise<ContainerOnNode> {
  const found = await kubectl.get("pod", pod);
  const { containerStatuses = [], initContainerStatuses = [] } = found?.["status"] ?? {};
  const statuses: { name: string; containerID?: string }[] = [...containerStatuses, ...initContainerStatuses];
  const id = statuses.find((status) => status.name === name)?.containerID?.replace("containerd://", "");
  if (!id) throw new Error(`container ${name} of Pod ${pod} does not run`);
  return { node: found?.["spec"].nodeName as string, id };
}

/** Of those Pods whose container runs. */
export async function runningContainers(kubectl: Kubectl, pods: readonly string[]): Promise<ContainerOnNode[]> {
  const found = await Promise.all(pods.map((pod) => findContainer(kubectl, pod).catch(() => undefined)));
  return found.filter((container) => container !== undefined);
}

/** Every process of the container ends at once, with no chance to say a word; the kubelet starts it again. */
export async function killContainer(cluster: LocalCluster, { node, id }: ContainerOnNode): Promise<void> {
  await runInside(cluster.pid(node), [...ctr, "kill", "--all", "--signal", "SIGKILL", id]);
}

/** Runs a command in the container as its own user, also on a node that is cut off. */
export async function runInContainer(cluster: LocalCluster, { node, id }: ContainerOnNode, command: readonly string[]): Promise<string> {
  return await runInside(cluster.pid(node), [...ctr, "exec", "--exec-id", randomUUID(), id, ...command]);
}

/** The container's processes stand still, and its connections stay open: a server that hangs, as on a stalled disk. */
export async function freezeContainer(cluster: LocalCluster, { node, id }: ContainerOnNode): Promise<void> {
  await runInside(cluster.pid(node), [...ctr, "pause", id]);
}

export async function thawContainer(cluster: LocalCluster, { node, id }: ContainerOnNode): Promise<void> {
  await runInside(cluster.pid(node), [...ctr, "resume", id]);
}

/**
 * The container's Pod reaches nobody's PostgreSQL any more, and everything else: what is open is closed for both sides, and what is opened
 * is refused. Until what this returns is called.
 */
export async function cutReplication(cluster: LocalCluster, { node, id }: ContainerOnNode): Promise<() => Promise<void>> {
  const inside = (command: readonly string[]) => runInside(cluster.pid(node), command);
  const [, pid] = new RegExp(`^${id}\\s+(\\d+)`, "m").exec(await inside([...ctr, "ls"])) ?? [];
  if (pid === undefined) throw new Error(`container ${id} does not run`);
  const filter = (commands: string) => inside(["nsenter", `--target=${pid}`, "--net", "nft", commands]);
  const chain = "add table ip cut; add chain ip cut out { type filter hook output priority 0; }";
  await filter(`${chain}; add rule ip cut out tcp dport 5432 tcp flags != rst reject with tcp reset`);
  return async () => void (await filter("delete table ip cut"));
}

/**
 * A script for a replica's container: it is promoted and writes. Patroni is stopped meanwhile: it looks every few seconds, and would end
 * the server before there is a table.
 */
export const leaveHistory = `patroni() {
  for process in /proc/[0-9]*; do
    if [ "$(cat "$process/comm" 2>/dev/null)" = patroni ]; then kill "-$1" "\${process#/proc/}"; fi
  done
}
trap 'patroni CONT' EXIT
patroni STOP
pg_ctl promote --pgdata=/var/lib/postgresql/data && psql --command='CREATE TABLE astray (id int)'`;

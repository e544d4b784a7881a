import { expect, test } from "vitest";
import type { Deployment, PersistentVolumeClaim, Pod } from "../../kinds/kubernetes.ts";
import { hindranceOf } from "./hindrance.ts";

const pod = (status: object): Pod => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "orders-repository-7d9" } },
  ...{ spec: { nodeName: "a", containers: [] }, status: status as NonNullable<Pod["status"]> },
});
const unschedulable = (message: string) =>
  pod({ conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }] });
const claim = (annotations: Record<string, string> = {}): PersistentVolumeClaim => ({
  ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "orders-repository", annotations } },
});
const onNode = claim({ "volume.kubernetes.io/selected-node": "node-2" });
const deployment = (conditions: readonly object[]) =>
  ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "orders-repository" }, status: { conditions } }) as unknown as Deployment;

const lost = "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match PersistentVolume's node affinity.";
const lostInOlderWords = "0/3 nodes are available: 1 node(s) had untolerated taint, 2 node(s) had volume node affinity conflict.";
const unbound = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.";
const noRoom = "0/3 nodes are available: 3 Insufficient memory.";

test.each([
  ["runs", { pod: pod({ conditions: [{ type: "Ready", status: "True" }] }) }, undefined],
  ["is not made yet", { deployment: deployment([]) }, undefined],
  [
    "is refused by a quota",
    { deployment: deployment([{ type: "ReplicaFailure", status: "True", message: "exceeded quota" }]) },
    { message: "the repository's Pod does not start: exceeded quota", mayPass: false },
  ],
  [
    "fits on no node",
    { pod: unschedulable(noRoom), claim: onNode },
    { message: `the repository's Pod does not start: ${noRoom}`, mayPass: false },
  ],
  [
    "has its volume on a lost node",
    { pod: unschedulable(lost), claim: onNode },
    {
      message: `the repository's Pod waits for its volume (claim orders-repository, which was made for node node-2), and can't use it on another node: ${lost}`,
      remedy: "bring node node-2 back; if it is lost for good, begin a new archive (docs/backups.md)",
      mayPass: false,
    },
  ],
  [
    "has its volume on a lost node, in the words of an older scheduler, with a volume that nobody has noted the node of",
    { pod: unschedulable(lostInOlderWords), claim: claim() },
    {
      message: `the repository's Pod waits for its volume (claim orders-repository), and can't use it on another node: ${lostInOlderWords}`,
      remedy: "bring the volume's node back; if it is lost for good, begin a new archive (docs/backups.md)",
      mayPass: false,
    },
  ],
  [
    "waits for a volume of a class that is not there",
    { pod: unschedulable(unbound), claim: { ...claim(), spec: { storageClassName: "fsat" } } },
    {
      message: `the repository's Pod waits for its volume (claim orders-repository, of storage class fsat), and nobody makes it: ${unbound}`,
      remedy: expect.stringContaining("spec.backup.repository.volume.storageClassName"),
      mayPass: false,
    },
  ],
  [
    "waits for a volume where the cluster has no default class",
    { pod: unschedulable(unbound), claim: claim() },
    { message: expect.stringContaining("(claim orders-repository, without a storage class)"), mayPass: false },
  ],
  [
    "has a volume and waits for something else",
    { pod: unschedulable(unbound), claim: { ...claim(), spec: { volumeName: "pv-1" } } },
    { message: `the repository's Pod does not start: ${unbound}`, mayPass: false },
  ],
  [
    "is on a lost node",
    {
      pod: pod({
        conditions: [
          { type: "Ready", status: "False" },
          { type: "ContainersReady", status: "True" },
        ],
      }),
    },
    { message: "the repository's Pod is lost: its node a does not answer", mayPass: true },
  ],
])("a Pod that %s", (_, seen, expected) => {
  const found = hindranceOf({ config: undefined, pod: undefined, claim: undefined, deployment: undefined, ...seen });
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(expected);
});

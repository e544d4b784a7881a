// Machines that are cut off, switched off and brought back, as the suites to come will do to databases.
import { describe, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { isReady } from "../cluster/status.ts";
import { isLocal, kubectl, localCluster, nodeBack, nodeReady, suiteNamespace } from "./test-cluster.ts";
import { diskClaim, startPods, toolbox } from "./toolbox.ts";

const namespace = suiteNamespace("faults");

describe.runIf(isLocal)("a node", () => {
  test("that is cut off can't be reached and turns NotReady; rejoined it is Ready with the same Pod running", async () => {
    const cluster = localCluster();
    await startPods(namespace, toolbox("far", { node: "node-3" }), toolbox("near", { node: "node-2" }));
    const dns = await kubectl
      .inNamespace("kube-system")
      .list("pods", "--selector=k8s-app=kube-dns", "--field-selector=spec.nodeName=node-3");
    const farAddress = dns[0]?.["status"].podIP as string;
    const knock = `python3 -c "import socket;socket.create_connection(('${farAddress}',5353),2)" 2>&1 && echo reached || true`;
    expect(await namespace.exec("near", knock)).toContain("reached");

    await cluster.cutNetwork("node-3");
    try {
      expect(await namespace.exec("near", knock)).toMatch(/timed out/);
      await eventually("node-3 is NotReady", 120_000, async () => !(await nodeReady("node-3")));
      // DNS of the nodes that are left does not depend on the one that is gone.
      expect(
        await namespace.exec("near", "for i in $(seq 20); do getent hosts kubernetes.default >/dev/null || echo failed; done"),
      ).not.toContain("failed");
    } finally {
      await cluster.joinNetwork("node-3");
    }
    await nodeBack("node-3", 120_000);
    expect(await namespace.exec("near", knock)).toContain("reached");
    expect((await namespace.get("pod", "far"))?.["status"].containerStatuses[0].restartCount).toBe(0);
  });

  test("that loses power comes back with its volumes, and restarts its Pods", async () => {
    const cluster = localCluster();
    await startPods(namespace, diskClaim("disk", "300Mi"), toolbox("owner", { node: "node-2", claim: "disk" }));
    await namespace.exec("owner", "echo survives >/data/file && sync /data/file");

    await cluster.powerOff("node-2");
    await cluster.powerOn("node-2");
    await cluster.boot("node-2");

    const content = await eventually("the Pod runs again", 180_000, async () => {
      const pod = await namespace.get("pod", "owner");
      const restarted = pod?.["status"].containerStatuses?.[0]?.restartCount > 0 && isReady(pod ?? {});
      return restarted && namespace.exec("owner", "cat /data/file").catch(() => undefined);
    });
    expect(content).toBe("survives\n");
  });

  test.each(["kubelet", "containerd", "kube-proxy"] as const)(
    "whose %s is killed and started again serves on, and its Pods don't notice",
    async (part) => {
      const cluster = localCluster();
      await startPods(namespace, toolbox("steady", { node: "node-1" }));
      const before = (await namespace.get("pod", "steady"))?.["status"].containerStatuses[0];
      await cluster.restartPart("node-1", part);
      await eventuallySucceeds("its Pods are reached, and reach Services themselves", 120_000, () =>
        namespace.exec("steady", "getent hosts kubernetes.default"),
      );
      expect((await namespace.get("pod", "steady"))?.["status"].containerStatuses[0].containerID).toBe(before?.containerID);
    },
  );
});

describe.runIf(isLocal)("the control plane", () => {
  test.each(["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "volume-controller"] as const)(
    "works again after %s was killed and started",
    async (part) => {
      await localCluster().restartPart("control-plane", part);
      const name = `after-${part}`;
      await eventuallySucceeds("the API server takes objects", 60_000, () => namespace.apply(JSON.stringify(diskClaim(name, "300Mi"))));
      // Scheduled, bound to a new volume, started: every part had its hand in it.
      await startPods(namespace, toolbox(name, { claim: name }));
      await namespace.run("delete", "pod", name, "--wait");
    },
  );

  test("stands still while the API server is paused, and goes on when it is woken", async () => {
    const cluster = localCluster();
    await cluster.pausePart("control-plane", "kube-apiserver");
    try {
      await expect(kubectl.run("get", "nodes", "--request-timeout=2s")).rejects.toThrow();
    } finally {
      await cluster.resumePart("control-plane", "kube-apiserver");
    }
    expect(await eventuallySucceeds("it answers", 30_000, () => kubectl.list("nodes"))).toHaveLength(3);
  });
});

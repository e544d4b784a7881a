// Volumes are disks: they have a size, they fill up, they grow under a running Pod, and they stay where they are.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { loopDevices } from "../cluster/disks.ts";
import { isLocal, kubectl, localCluster, suiteNamespace } from "./test-cluster.ts";
import { diskClaim, startPods, toolbox } from "./toolbox.ts";

const namespace = suiteNamespace("volumes");

async function volumeOf(claimName: string) {
  const bound = await namespace.get("pvc", claimName);
  return (await kubectl.get("pv", bound?.["spec"].volumeName)) ?? {};
}

describe.runIf(isLocal)("a volume of the local cluster", () => {
  test("fills to ENOSPC, grows while the Pod runs, and can be written again", async () => {
    await startPods(namespace, diskClaim("disk", "400Mi"), toolbox("writer", { claim: "disk" }));
    const filled = await namespace.exec(
      "writer",
      "echo first >/data/first; dd if=/dev/zero of=/data/fill bs=1M 2>&1 || true; dd if=/dev/zero of=/data/more bs=1M count=50 2>&1 || true",
    );
    expect(filled.match(/No space left on device/g)).toHaveLength(2);

    await namespace.run("patch", "pvc", "disk", "--patch", '{"spec":{"resources":{"requests":{"storage":"600Mi"}}}}');
    await eventually(
      "the claim has grown",
      180_000,
      async () => (await namespace.get("pvc", "disk"))?.["status"].capacity.storage === "600Mi",
    );

    expect(await namespace.exec("writer", "dd if=/dev/zero of=/data/more bs=1M count=50 2>&1 && cat /data/first")).toContain("first");
    expect((await namespace.get("pod", "writer"))?.["status"].containerStatuses[0].restartCount).toBe(0);
  });

  test("stays on its node: the next Pod of the claim follows it and finds what was written", async () => {
    const before = (await namespace.get("pod", "writer"))?.["spec"].nodeName;
    await namespace.run("delete", "pod", "writer", "--wait");
    await startPods(namespace, toolbox("reader", { claim: "disk" }));
    expect(await namespace.exec("reader", "cat /data/first")).toBe("first\n");
    expect((await namespace.get("pod", "reader"))?.["spec"].nodeName).toBe(before);
  });

  test("goes with its claim when the policy is Delete", async () => {
    const volume = await volumeOf("disk");
    await namespace.run("delete", "pod", "reader", "--wait");
    await namespace.run("delete", "pvc", "disk", "--wait");
    await eventually("the volume is gone", 60_000, async () => (await kubectl.get("pv", volume["metadata"].name)) === undefined);
  });

  test("outlives its claim when the policy is Retain, and gives back what was written", async () => {
    await startPods(namespace, diskClaim("kept", "400Mi", { storageClassName: "standard-retain" }), toolbox("keeper", { claim: "kept" }));
    await namespace.exec("keeper", "echo precious >/data/kept && sync");
    const volume = (await volumeOf("kept"))["metadata"].name as string;
    await namespace.run("delete", "pod", "keeper", "--wait");
    await namespace.run("delete", "pvc", "kept", "--wait");
    await eventually("the volume is Released", 60_000, async () => (await kubectl.get("pv", volume))?.["status"].phase === "Released");

    // The way back that every administrator knows: forget the old claim, and name the volume in the new one.
    await kubectl.run("patch", "pv", volume, "--type=json", '--patch=[{"op":"remove","path":"/spec/claimRef"}]');
    const again = diskClaim("again", "400Mi", { storageClassName: "standard-retain", volumeName: volume });
    await startPods(namespace, again, toolbox("finder", { claim: "again" }));
    expect(await namespace.exec("finder", "cat /data/kept")).toBe("precious\n");

    await kubectl.run("patch", "pv", volume, "--patch", '{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}');
  });

  test.each([
    [
      "an access mode that a disk can't have",
      "shared",
      { accessModes: ["ReadWriteMany"] },
      /ReadWriteMany is not possible.*use ReadWriteOnce/,
    ],
    ["a copy of another volume", "copy", { dataSource: { kind: "PersistentVolumeClaim", name: "again" } }, /can't be filled from .*again/],
  ])("%s is refused with the way out", async (_, name, spec, expected) => {
    const objects = [diskClaim(name, "400Mi", spec), toolbox(`user-of-${name}`, { claim: name })];
    await namespace.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    const message = await eventually("an event says why", 60_000, async () => {
      const events = await namespace.list("events", `--field-selector=reason=ProvisioningFailed,involvedObject.name=${name}`);
      return events[0]?.["message"] as string | undefined;
    });
    expect(message).toMatch(expected);
  });

  test("whose object is deleted by hand is not left behind on the disk", async () => {
    await startPods(namespace, diskClaim("doomed", "400Mi"), toolbox("doomer", { claim: "doomed" }));
    const volume = (await volumeOf("doomed"))["metadata"].name as string;
    const cluster = localCluster();
    expect(loopDevices(cluster.plan).length).toBeGreaterThan(0);
    await kubectl.run("delete", "pv", volume, "--wait=false");
    await namespace.run("delete", "pod", "doomer", "--wait");
    await namespace.run("delete", "pvc", "doomed", "--wait");
    await eventually(
      "its file is gone",
      60_000,
      () => !existsSync(join(cluster.plan.stateDirectory, "volumes", `${cluster.plan.name}-${volume}.img`)),
    );
  });
});

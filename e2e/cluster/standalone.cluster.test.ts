// Control planes alone: several at once, without root, surviving the loss of each of their parts.
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { asNobody } from "./nobody.ts";
import { programsDirectory } from "./programs.ts";
import { StandaloneControlPlane } from "./standalone.ts";

describe("a control plane", () => {
  let plane: StandaloneControlPlane;

  beforeAll(async () => {
    plane = await StandaloneControlPlane.start();
  });

  afterAll(() => plane.stop());

  test("runs its controllers: a Deployment gets its ReplicaSet and Pods, which stay Pending without a node", async () => {
    await plane.kubectl("create", "deployment", "web", "--image=example.invalid/web", "--replicas=2");
    const phases = await eventually("two Pods are made", 30_000, async () => {
      const output = await plane.kubectl("get", "pods", "--selector=app=web", "--output=jsonpath={.items[*].status.phase}");
      return output === "Pending Pending" && output;
    });
    expect(phases).toBe("Pending Pending");
  });

  test("answers for what it does not serve as well, which is plain text", async () => {
    expect(await plane.request("GET", "/apis/example.invalid/v1/nothing")).toEqual({
      status: 404,
      body: { message: "404 page not found" },
    });
  });

  test("has RBAC and the usual admission", async () => {
    await expect(plane.kubectl("get", "secrets", "--as=nobody")).rejects.toThrow(/forbidden/);
    await plane.kubectl("create", "namespace", "strict");
    await plane.kubectl("label", "namespace", "strict", "pod-security.kubernetes.io/enforce=restricted");
    await expect(plane.kubectl("run", "--namespace=strict", "greedy", "--image=example.invalid/x", "--privileged")).rejects.toThrow(
      /violates PodSecurity/,
    );
    expect(
      await plane
        .kubectl("auth", "can-i", "get", "secrets", "--as=system:node:x", "--as-group=system:nodes")
        .catch((error: Error) => error.message),
    ).toMatch(/no/);
  });

  test.each(["etcd", "kube-apiserver", "kube-controller-manager"] as const)(
    "keeps everything when %s is killed and started again",
    async (part) => {
      await plane.kubectl("create", "configmap", `before-${part}`);
      await plane.killPart(part);
      if (part !== "kube-controller-manager") {
        await expect(plane.kubectl("create", "configmap", "meanwhile", "--request-timeout=2s")).rejects.toThrow();
      }
      await plane.startPart(part);
      await plane.ready();
      expect(await plane.kubectl("get", "configmap", `before-${part}`, "--output=name")).toBe(`configmap/before-${part}\n`);
    },
  );

  test("answers nobody while its API server is paused, and goes on when it is woken", async () => {
    plane.pausePart("kube-apiserver");
    await expect(plane.kubectl("get", "nodes", "--request-timeout=1s")).rejects.toThrow();
    plane.resumePart("kube-apiserver");
    await plane.ready();
  });
});

test("two run side by side and know nothing of each other; each leaves nothing", async () => {
  const planes = await Promise.all([StandaloneControlPlane.start(), StandaloneControlPlane.start()]);
  const [first, second] = planes;
  try {
    await first.kubectl("create", "namespace", "mine");
    await expect(second.kubectl("get", "namespace", "mine")).rejects.toThrow(/NotFound/);
  } finally {
    await Promise.all(planes.map((plane) => plane.stop()));
  }
  expect(planes.map(({ directory }) => existsSync(directory))).toEqual([false, false]);
});

test.runIf(process.getuid?.() === 0)("needs no root, and takes its programs from KUBEBUILDER_ASSETS", async () => {
  const assets = mkdtempSync(join(tmpdir(), "sampledb-assets-"));
  try {
    chmodSync(assets, 0o755);
    copyFileSync(join(await programsDirectory(), "kubernetes"), join(assets, "kubernetes"));
    for (const name of ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"]) symlinkSync("kubernetes", join(assets, name));
    const script = `
      import { StandaloneControlPlane } from "${join(import.meta.dirname, "standalone.ts")}";
      const plane = await StandaloneControlPlane.start();
      const namespace = await plane.kubectl("get", "namespace", "default", "--output=name");
      await plane.stop();
      console.log(process.getuid(), namespace);`;
    const output = await run("setpriv", [...asNobody, process.execPath, "--input-type=module-typescript", "--eval", script], {
      env: { KUBEBUILDER_ASSETS: assets, HOME: "/nonexistent", SAMPLEDB_CACHE: "/nonexistent" },
      cwd: "/",
    });
    expect(output).toContain("65534 namespace/default");
  } finally {
    rmSync(assets, { recursive: true, force: true });
  }
});

// The cluster as a user meets it: nodes, names, Services, and Pods that may do next to nothing.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { postgresImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { CommandError } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { isReady } from "../cluster/status.ts";
import { isLocal, kubectl, schedulableNodes, suiteNamespace } from "./test-cluster.ts";
import { startPods, toolbox } from "./toolbox.ts";

const namespace = suiteNamespace("cluster");

test.runIf(isLocal)("three nodes are Ready, each in a zone of its own", async () => {
  const nodes = await kubectl.list("nodes");
  expect(
    nodes
      .filter(isReady)
      .map((node) => node["metadata"].labels["topology.kubernetes.io/zone"])
      .sort(),
  ).toEqual(["zone-1", "zone-2", "zone-3"]);
  expect(nodes.every((node) => node["status"].nodeInfo.kubeletVersion.startsWith("v1.34."))).toBe(true);
});

describe("from every node", async () => {
  const nodes = await schedulableNodes();

  test("names resolve, Services reach Pods on every node, and nothing leads outside", async () => {
    // Each Pod answers with its own name, so that it shows which one was reached.
    const answer =
      "import http.server,os\nclass H(http.server.BaseHTTPRequestHandler):\n def do_GET(s):\n  s.send_response(200);s.end_headers();s.wfile.write(os.environ['HOSTNAME'].encode())\n def log_message(s,*a):pass\nhttp.server.ThreadingHTTPServer(('',8080),H).serve_forever()";
    const pods = nodes.map((node, i) => toolbox(`web-${i}`, { node, labels: { app: "web" }, command: ["python3", "-c", answer] }));
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
    };
    await startPods(namespace, service, ...pods);

    for (const i of nodes.keys()) {
      const reached = await eventually(`web-${i} reaches every Pod`, 60_000, async () => {
        const fetch = "import urllib.request;print(urllib.request.urlopen('http://web',timeout=3).read().decode())";
        const names = new Set(
          (await namespace.exec(`web-${i}`, `for i in $(seq 30); do python3 -c "${fetch}"; done`).catch(() => "")).trim().split("\n"),
        );
        return names.size === nodes.length && [...names].sort();
      });
      expect(reached).toEqual(nodes.map((_, pod) => `web-${pod}`));
      expect(await namespace.exec(`web-${i}`, "getent hosts kubernetes.default.svc.cluster.local")).toContain("kubernetes.default");
    }
    if (isLocal) {
      const connect = "import socket;socket.create_connection(('192.0.2.1',80),5)";
      await expect(namespace.exec("web-0", `python3 -c "${connect}" 2>&1`)).rejects.toThrow(CommandError);
      expect(await namespace.exec("web-0", `python3 -c "${connect}" 2>&1 || true`)).toMatch(/unreachable|No route to host/i);
    }
  });
});

describe("under the restricted profile", () => {
  test("a Pod that asks for more is refused", async () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "greedy" },
      spec: { containers: [{ name: "c", image: imageReference(postgresImage("17")), securityContext: { privileged: true } }] },
    };
    await expect(namespace.apply(JSON.stringify(pod))).rejects.toThrow(/violates PodSecurity "restricted/);
  });

  test.each(["15", "17", "15-17"] as const)("PostgreSQL %s works for a uid that no one has heard of", async (tag) => {
    const name = `uid-${tag}`;
    await startPods(namespace, toolbox(name, { image: imageReference(postgresImage(tag)), user: 1_000_650_000 }));
    const report = await namespace.execFile(name, join(projectDirectory, "images/postgres/smoke-test.sh"));
    for (const major of tag.split("-")) expect(report).toMatch(new RegExp(`^ok .*PostgreSQL ${major}`, "m"));
    expect(await namespace.exec(name, "id -u; id -un")).toBe("1000650000\npostgres\n");
  });
});

// Pods on every node reach the store by its name and trust it by its authority; its faults reach them as well.
import { describe, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { suiteStore } from "./suite-store.ts";
import { isLocal, schedulableNodes, suiteNamespace } from "./test-cluster.ts";
import { startPods, toolbox } from "./toolbox.ts";

describe.runIf(isLocal)("the store", () => {
  const reached = suiteStore();
  const namespace = suiteNamespace("clients");

  test("is reached from every node, by its name and by its address", async () => {
    const nodes = await schedulableNodes();
    const { store, url } = reached();
    await startPods(namespace, ...nodes.map((node, i) => toolbox(`client-${i}`, { node })));
    for (const i of nodes.keys()) {
      await eventually(`client-${i} finds the store`, 60_000, async () => (await ask(`client-${i}`, url)) === "200");
      expect(await ask(`client-${i}`, store.endpoint)).toBe("200");
    }
  });

  test.each([
    ["dead", "timed out"],
    ["silent", "timed out"],
    ["refusing", "refused"],
    ["failing", "500"],
    [undefined, "200"],
  ] as const)("with the fault %s: a Pod sees %s", async (fault, seen) => {
    const { store, url } = reached();
    await store.fault(fault);
    expect(await ask("client-0", url)).toContain(seen);
  });

  /** The status that a Pod is answered with, or what went wrong. */
  async function ask(pod: string, url: string): Promise<string> {
    const script = `import ssl, urllib.error, urllib.request
trust = ssl.create_default_context(cadata=${JSON.stringify(reached().store.caCertificate)})
try:
    print(urllib.request.urlopen("${url}/minio/health/live", timeout=3, context=trust).status)
except urllib.error.HTTPError as error:
    print(error.code)
except Exception as error:
    print(str(error).lower())
`;
    const encoded = Buffer.from(script).toString("base64");
    return (await namespace.exec(pod, `echo ${encoded} | base64 -d | python3 -`)).trim();
  }
});

// What suites of the runtime stand on: a control plane of their own, a proxy before it, and a client through the proxy.
import { afterAll } from "vitest";
import { TestConnection } from "../../runtime/kube/test-connection.fixture.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { FaultProxy } from "./fault-proxy.ts";

/** Called while a suite's file is loaded; all of it goes when the suite has ended. */
export async function startSuite(): Promise<{ plane: StandaloneControlPlane; proxy: FaultProxy; connection: TestConnection }> {
  const plane = await StandaloneControlPlane.start();
  const proxy = await FaultProxy.start(plane);
  const connection = new TestConnection(proxy.kubeconfig);
  afterAll(async () => {
    await connection.transport.close();
    await proxy.stop();
    await plane.stop();
  });
  return { plane, proxy, connection };
}

// What suites stand on: a control plane, a proxy before it, and a client through the proxy.
import { afterAll } from "vitest";
import { TestConnection } from "../../runtime/kube/test-connection.fixture.ts";
import { type ControlPlane, StandaloneControlPlane } from "../cluster/standalone.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { sharedControlPlane } from "./shared-plane.fixture.ts";

interface Suite<Plane extends ControlPlane> {
  readonly plane: Plane;
  readonly proxy: FaultProxy;
  readonly connection: TestConnection;
}

/** On the control plane that the files of a worker share. Called while a suite's file is loaded; proxy and client go when it has ended. */
export async function startSuite(): Promise<Suite<ControlPlane>> {
  return await suiteOn(await sharedControlPlane(), async () => {});
}

/** On a control plane that no other file has: the suite may break it, and finds nothing in it. It goes when the suite has ended. */
export async function startSuiteAlone(): Promise<Suite<StandaloneControlPlane>> {
  const plane = await StandaloneControlPlane.start();
  return await suiteOn(plane, () => plane.stop());
}

async function suiteOn<Plane extends ControlPlane>(plane: Plane, stop: () => Promise<void>): Promise<Suite<Plane>> {
  const proxy = await FaultProxy.start(plane);
  const connection = new TestConnection(proxy.kubeconfig);
  afterAll(async () => {
    await connection.transport.close();
    await proxy.stop();
    await stop();
  });
  return { plane, proxy, connection };
}

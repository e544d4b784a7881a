// make deploy and undeploy without nodes: the objects that exist after each.
import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programsDirectory } from "../e2e/cluster/programs.ts";
import { StandaloneControlPlane } from "../e2e/cluster/standalone.ts";
import { run } from "../tools/command.ts";

let plane: StandaloneControlPlane;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
});

afterAll(() => plane.stop());

async function make(target: string): Promise<void> {
  const env = { KUBECONFIG: plane.kubeconfig, PATH: `${await programsDirectory()}:${process.env["PATH"]}` };
  await run("make", ["--no-print-directory", "--directory", dirname(import.meta.dirname), target], { env });
}

/** The number of our objects of each kind. */
async function ours(): Promise<Record<string, number>> {
  const kinds = [
    "crd",
    "validatingadmissionpolicy",
    "validatingadmissionpolicybinding",
    "validatingwebhookconfiguration",
    "clusterrole",
    "namespace",
  ];
  const counts = kinds.map(async (kind) => {
    const names = (await plane.kubectl("get", kind, "--output=name")).split("\n");
    return [kind, names.filter((name) => name.includes("sampledb")).length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

test("undeploy removes the operator, and leaves kinds, guards, and the authorities of databases", async () => {
  await make("deploy");
  const staying = { crd: 3, validatingadmissionpolicy: 5, validatingadmissionpolicybinding: 5 };
  expect(await ours()).toEqual({ ...staying, validatingwebhookconfiguration: 1, clusterrole: 12, namespace: 1 });
  await plane.kubectl("create", "secret", "generic", "authority.default.orders", "--namespace=sampledb-system");
  await make("undeploy");
  expect(await ours()).toEqual({ ...staying, validatingwebhookconfiguration: 0, clusterrole: 0, namespace: 1 });
  const left = await plane.kubectl("get", "deployments,secrets,services", "--namespace=sampledb-system", "--output=name");
  expect(left.trim()).toBe("secret/authority.default.orders");
});

import { expect, test } from "vitest";
import { clusterPlan, findHost, highestIndex, hosts } from "./plan.ts";

const plans = Array.from({ length: highestIndex + 1 }, (_, index) => clusterPlan(index));

test("no two clusters share a name, a path, a control group or an address", () => {
  for (const property of ["name", "stateDirectory", "kubeconfig", "cgroup", "hostLink", "addressRange", "apiServer"] as const) {
    expect(new Set(plans.map((plan) => plan[property])).size).toBe(plans.length);
  }
  const addresses = plans.flatMap((plan) => [
    plan.hostAddress,
    plan.apiServiceAddress,
    plan.dnsAddress,
    ...hosts(plan).map(({ address }) => address),
  ]);
  expect(new Set(addresses).size).toBe(addresses.length);
});

test("the names of links fit into what the kernel allows", () => {
  for (const plan of plans)
    for (const name of [plan.hostLink, ...hosts(plan).map((host) => host.name)]) expect(name.length).toBeLessThan(16);
});

test("Pods of each node have a range of their own inside the cluster's", () => {
  const { nodes } = clusterPlan(3);
  expect(nodes.map(({ podRange }) => podRange)).toEqual(["10.203.17.0/24", "10.203.18.0/24", "10.203.19.0/24"]);
});

test("a machine that does not exist is named in the error", () => {
  expect(() => findHost(clusterPlan(0), "node-9")).toThrow("sampledb-0 has no machine node-9");
});

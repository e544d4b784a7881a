// What decides whether the tests of the local Kubernetes run whole.
import { expect, test } from "vitest";
import { clusterFiles, clusterInputs, passedAt } from "./whole-run.ts";

test("the inputs are the cluster, its tests and what these import of the tools; not the operator", async () => {
  const files = await clusterFiles();
  const some = [
    "e2e/cluster",
    "e2e/faults/fault-proxy.ts",
    "e2e/suites/volumes.cluster.test.ts",
    "tools/eventually.ts",
    "images/archive.ts",
  ];
  expect(files).toEqual(expect.arrayContaining(some));
  expect(files.filter((file) => /^(api|controllers|operator|runtime)\//.test(file))).toEqual([]);
});

test("the same files have the same name, and one that never passed has no date", async () => {
  expect(await clusterInputs()).toBe(await clusterInputs());
  expect(passedAt("0000000000000000")).toBeUndefined();
});

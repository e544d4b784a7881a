import { defineConfig } from "vitest/config";
import { TestOrder } from "./tools/test-order.ts";

const shared = { pool: "forks", environment: "node" } as const;
/** Each worker has a cluster for itself: some suites break it on purpose. The user's own cluster is one. */
const clusters = process.env["USE_EXISTING_CLUSTER"] === "true" ? 1 : 2;
const notOurs = ["node_modules/**", "build/**", "dist/**"];

export default defineConfig({
  test: {
    sequence: { sequencer: TestOrder },
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["**/*.test.ts"],
          exclude: [...notOurs, "**/*.{integration,cluster,e2e,matrix,helm,olm}.test.ts"],
          testTimeout: 30_000, // properties over thousands of cases, on a machine with more to do
          sequence: { groupOrder: 1 }, // each project has a number of workers of its own: one project after the other
        },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: ["**/*.integration.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/control-planes-setup.ts",
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: "cluster",
          include: ["e2e/**/*.cluster.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/cluster-setup.ts",
          fileParallelism: false, // most of them break the one cluster on purpose
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...shared,
          name: "e2e",
          include: ["e2e/suites/*.e2e.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/cluster-setup.ts",
          maxWorkers: clusters,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          ...shared,
          name: "matrix",
          include: ["e2e/matrix/*.matrix.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/cluster-setup.ts",
          maxWorkers: clusters,
          testTimeout: 900_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 5 },
        },
      },
      {
        test: {
          ...shared,
          name: "helm",
          include: ["e2e/helm/*.helm.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/cluster-setup.ts",
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 6 },
        },
      },
      {
        test: {
          ...shared,
          name: "olm",
          include: ["e2e/olm/*.olm.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/cluster-setup.ts",
          fileParallelism: false, // OLM is one for a cluster
          testTimeout: 600_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 7 },
        },
      },
    ],
  },
});

import { defineConfig } from "vitest/config";

const shared = { pool: "forks", environment: "node" } as const;
const notOurs = ["node_modules/**", "build/**", "dist/**"];

export default defineConfig({
  test: {
    projects: [
      {
        test: { ...shared, name: "unit", include: ["**/*.test.ts"], exclude: [...notOurs, "**/*.{integration,e2e,matrix}.test.ts"] },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: ["**/*.integration.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/control-planes-setup.ts",
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: "e2e",
          include: ["e2e/suites/*.e2e.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/cluster-setup.ts",
          fileParallelism: false, // the suites share one cluster, and some of them break it on purpose
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          ...shared,
          name: "matrix",
          include: ["e2e/matrix/*.matrix.test.ts"],
          exclude: notOurs,
          globalSetup: "e2e/suites/cluster-setup.ts",
          fileParallelism: false,
          testTimeout: 900_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});

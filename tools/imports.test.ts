// The lint rules that keep imports flowing one way refuse the imports that they should.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { run } from "./command.ts";

/** The linter's output for a file at that path with that import. */
async function lint(file: string, imported: string): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "sampledb-imports-"));
  try {
    copyFileSync(join(import.meta.dirname, "../biome.json"), join(project, "biome.json"));
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), `import { x } from "${imported}";\n\nexport const y = x;\n`);
    return await run("sh", ["-c", `biome lint --only=style/noRestrictedImports --reporter=github ${file} 2>&1 || true`], { cwd: project });
  } finally {
    rmSync(project, { recursive: true });
  }
}

test.each([
  ["api/sampledb.ts", "../controllers/sampledb/reconcile.ts", "api is imported by everything"],
  ["api/sampledb.ts", "../runtime/client.ts", "api is imported by everything"],
  ["runtime/queue.ts", "../api/sampledb.ts", "the runtime knows nothing"],
  ["runtime/queue.ts", "pg", "the runtime knows nothing"],
  ["api/sampledb.ts", "../operator/flags.ts", "api is imported by everything"],
  ["runtime/queue.ts", "../operator/flags.ts", "the runtime knows nothing"],
  ["controllers/desired/service.ts", "../sampledb/foundation/services.ts", "builders of desired objects are pure"],
  ["controllers/desired/service.ts", "../../runtime/client.ts", "builders of desired objects are pure"],
  ["controllers/desired/service.ts", "node:fs", "builders of desired objects are pure"],
  ["controllers/sampledb/foundation/services.ts", "../reconcile.ts", "imports flow one way"],
  ["controllers/sampledb/foundation/services.ts", "../../backup/repository.ts", "imports flow one way"],
  ["controllers/sampledb/modes.ts", "../backup/controller.ts", "controllers never import each other"],
  ["controllers/backup/controller.ts", "../sampledb/scope.ts", "controllers never import each other"],
  ["controllers/restore/controller.ts", "../backup/scope.ts", "controllers never import each other"],
  ["controllers/database/view.ts", "../sampledb/scope.ts", "imports no controller"],
  ["controllers/jobs/runner.ts", "../restore/scope.ts", "imports no controller"],
  ["controllers/watches.ts", "./sampledb/scope.ts", "imports no controller"],
  ["operator/operator.ts", "../e2e/cluster/plan.ts", "nothing that ships or builds"],
  ["main.ts", "./e2e/cluster/plan.ts", "nothing that ships or builds"],
  ["images/build.ts", "../e2e/cluster/plan.ts", "nothing that ships or builds"],
  ["packaging/packages.ts", "../e2e/cluster/plan.ts", "nothing that ships or builds"],
])("%s may not import %s", async (file, imported, reason) => {
  expect(await lint(file, imported)).toContain(reason);
});

test.each([
  ["controllers/desired/service.ts", "../../api/sampledb.ts"],
  ["controllers/sampledb/foundation/services.ts", "../../desired/service.ts"],
  ["controllers/sampledb/foundation/services.ts", "../orders/settle-order.ts"],
  ["controllers/sampledb/modes.ts", "../database/view.ts"],
  ["main.ts", "./controllers/sampledb/reconcile.ts"],
  ["e2e/suites/x.e2e.test.ts", "../../api/sampledb.ts"],
])("%s may import %s", async (file, imported) => {
  expect(await lint(file, imported)).toBe("");
});

import { expect, test } from "vitest";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { Job } from "../../kinds/kubernetes.ts";
import { findings, observed, primary } from "../observations.fixture.ts";
import type { Scope } from "../scope.ts";
import { initialization } from "./initialization.ts";

const ended: Job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "orders-init", namespace: "shop" },
  status: { conditions: [{ type: "Complete", status: "True" }] },
};

/** With no script there is nothing to ask the API server for. */
function scope(initJob: Job): Scope {
  const found = findings({ initialization: { kind: "waiting" } });
  const choices = { image: "postgres:17" };
  return { db: sampleDB(), choices, observed: observed([primary(0)], { initJob }), findings: found } as unknown as Scope;
}

test("once the Job has ended well it is come back for: nothing else may change any more, and it is still to be removed", async () => {
  const here = scope(ended);
  const { result } = await initialization(here);
  expect(here.findings.initialization).toMatchObject({ kind: "done" });
  expect(result).toMatchObject({ kind: "after" });
});

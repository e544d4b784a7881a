import { expect, test } from "vitest";
import { controlledBy } from "../../../runtime/kube/object.ts";
import { cacheOf } from "../../cache.fixture.ts";
import { primary } from "../../database/instance.fixture.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { Job } from "../../kinds/kubernetes.ts";
import { findings, now, observed } from "../observations.fixture.ts";
import type { Scope } from "../scope.ts";
import { initialization } from "./initialization.ts";

const { namespace = "" } = sampleDB().metadata;

const ended: Job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "orders-init", namespace, ownerReferences: [controlledBy(sampleDB())] },
  status: { conditions: [{ type: "Complete", status: "True" }] },
};

/** Without scripts, the step asks the API server for nothing. */
function scope(initJob: Job): Scope {
  const found = findings({ initialization: { kind: "waiting" } });
  const deps = { cache: cacheOf(initJob), now };
  const choices = { image: "postgres:17" };
  return {
    db: sampleDB(),
    key: { namespace, name: "orders" },
    deps,
    choices,
    observed: observed([primary(0)]),
    findings: found,
  } as unknown as Scope;
}

test("the step looks again at an init Job that has succeeded, because no watch may cause the reconcile that removes it", async () => {
  const here = scope(ended);
  const { result } = await initialization(here);
  expect(here.findings.initialization).toMatchObject({ kind: "done" });
  expect(result).toMatchObject({ kind: "after" });
});

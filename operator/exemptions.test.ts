// Who and what passes the webhooks unasked, as the match conditions of the configuration say it too.
import { expect, test } from "vitest";
import type { AdmissionRequest } from "../runtime/webhooks/admission.ts";
import { isExempt } from "./exemptions.ts";

const operator = "system:serviceaccount:sampledb-system:sampledb-operator";
const object = (spec: object | undefined, finalizers: string[] = []) => ({
  metadata: { name: "a", finalizers },
  ...(spec ? { spec } : {}),
});

test.each([
  ["a finalizer that goes", "UPDATE", "somebody", object({ replicas: 1 }), object({ replicas: 1 }, ["f"]), true],
  ["an object without a spec", "UPDATE", "somebody", object(undefined), object(undefined, ["f"]), true],
  ["a changed spec", "UPDATE", "somebody", object({ replicas: 2 }), object({ replicas: 1 }), false],
  ["a spec that appears", "UPDATE", "somebody", object({}), object(undefined), false],
  ["a new object", "CREATE", "somebody", object({}), undefined, false],
  ["a deletion", "DELETE", "somebody", undefined, object({}), false],
  ["a change of the operator's", "UPDATE", operator, object({ replicas: 2 }), object({ replicas: 1 }), true],
  ["the same account elsewhere", "CREATE", operator.replace("system:", "other:"), object({}), undefined, false],
])("%s", (_, operation, username, now, before, exempt) => {
  const request = { operation, userInfo: { username }, object: now, oldObject: before } as unknown as AdmissionRequest;
  expect(isExempt(request, operator)).toBe(exempt);
});

// Which questions are answered without kubectl, and by which names a kind is found.
import { describe, expect, test } from "vitest";
import { kindsOf, questionOf } from "./api-reader.ts";

describe("a question", () => {
  test.each([
    [["pod", "orders-0"], { kinds: ["pod"], name: "orders-0", namespace: "mine" }],
    [["pods,services"], { kinds: ["pods", "services"], name: undefined, namespace: "mine" }],
    [["leases", "--namespace=kube-node-lease"], { namespace: "kube-node-lease" }],
    [["pods", "--all-namespaces"], { namespace: undefined }],
    [["pods", "--show-managed-fields"], { keepsManagedFields: true }],
  ])("%j", (args, expected) => {
    expect(questionOf(args, "mine")).toMatchObject(expected);
  });

  test("selectors are passed on as they are", () => {
    const { query } = questionOf(["events", "--field-selector=reason=Failed,involvedObject.name=x", "--selector=a=b,c"], undefined) ?? {};
    expect(Object.fromEntries(query ?? [])).toEqual({ fieldSelector: "reason=Failed,involvedObject.name=x", labelSelector: "a=b,c" });
  });

  test.each([[["pods", "--watch"]], [["pods", "one", "two"]], [["pod/one"]], [["pod", "one", "--selector=a=b"]], [["pod", ""]], [[]]])(
    "%j is left to kubectl",
    (args) => {
      expect(questionOf(args, undefined)).toBeUndefined();
    },
  );
});

test("a kind has all its names, and where two groups share one, the first has it", () => {
  const resource = (plural: string, singularResource: string, kind: string, ...shortNames: string[]) => ({
    ...{ resource: plural, singularResource, shortNames, scope: "Namespaced", responseKind: { kind } },
  });
  const core = { metadata: {}, versions: [{ version: "v1", resources: [resource("events", "event", "Event", "ev")] }] };
  const later = { metadata: { name: "events.k8s.io" }, versions: [{ version: "v1", resources: [resource("events", "event", "Event")] }] };
  const kinds = kindsOf([{ items: [core] }, { items: [later] }]);
  expect(["events", "event", "ev", "events.events.k8s.io", "none"].map((name) => kinds.get(name)?.apiVersion)).toEqual([
    "v1",
    "v1",
    "v1",
    "events.k8s.io/v1",
    undefined,
  ]);
});

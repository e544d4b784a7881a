import { expect, test } from "vitest";
import { jsonAnnotation } from "./json-annotation.ts";

const annotated = (value: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "orders-config", annotations: { told: value } },
});

test("a JSON object in the annotation is returned", () => {
  expect(jsonAnnotation(annotated('{"a": {"b": 1}}'), "told")).toEqual({ a: { b: 1 } });
});

test.each(["{", "", "null", "[]", "7", '"text"'])("%j in the annotation counts as an empty object", (value) =>
  expect(jsonAnnotation(annotated(value), "told")).toEqual({}),
);

test("a missing object or annotation counts as an empty object", () => {
  expect(jsonAnnotation(undefined, "told")).toEqual({});
  expect(jsonAnnotation(annotated("{}"), "other")).toEqual({});
});

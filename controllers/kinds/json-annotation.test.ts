import { expect, test } from "vitest";
import { jsonAnnotation } from "./json-annotation.ts";

const annotated = (value: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "orders-config", annotations: { told: value } },
});

test("an object is what it says", () => {
  expect(jsonAnnotation(annotated('{"a": {"b": 1}}'), "told")).toEqual({ a: { b: 1 } });
});

test.each(["{", "", "null", "[]", "7", '"text"'])("%j says nothing", (value) =>
  expect(jsonAnnotation(annotated(value), "told")).toEqual({}),
);

test("nor does what is not there", () => {
  expect(jsonAnnotation(undefined, "told")).toEqual({});
  expect(jsonAnnotation(annotated("{}"), "other")).toEqual({});
});

import { expect, test } from "vitest";
import { apiError } from "../kube/errors.ts";
import { describeError } from "./describe-error.ts";

const call = { method: "POST", path: "/api/v1/namespaces/n/configmaps" };
const withoutStack = (error: unknown) => describeError(error, { stack: false });

test.each<[string, unknown, object]>([
  ["an error", new RangeError("too far"), { name: "RangeError", message: "too far" }],
  [
    "an answer of the API server's",
    apiError(call, 422, { reason: "Invalid", message: "no", details: { causes: [{ message: "hunter2", field: "data" }] } }),
    { name: "Invalid", message: `POST ${call.path}: no`, code: 422, reason: "Invalid" },
  ],
  [
    "properties that a library hung on it",
    Object.assign(new Error("refused"), {
      body: { password: "hunter2" },
      headers: { authorization: "hunter2" },
      detail: "hunter2",
      code: 7,
    }),
    { name: "Error", message: "refused" },
  ],
  [
    "causes",
    new Error("a", { cause: new Error("b", { cause: "c" }) }),
    { name: "Error", message: "a", cause: { name: "Error", message: "b", cause: { name: "string", message: "c" } } },
  ],
  [
    "parts",
    new AggregateError([new Error("a"), new AggregateError([new TypeError("b")], "inner")], "outer"),
    {
      name: "AggregateError",
      message: "outer",
      errors: [
        { name: "Error", message: "a" },
        { name: "AggregateError", message: "inner", errors: [{ name: "TypeError", message: "b" }] },
      ],
    },
  ],
  ["a thrown object", { data: { password: "hunter2" } }, { name: "object", message: "what was thrown is no Error" }],
  ["a thrown undefined", undefined, { name: "undefined", message: "what was thrown is no Error" }],
])("the description of %s", (_, error, description) => {
  expect(withoutStack(error)).toEqual(description);
});

test("input that JSON.parse quotes is left out, also where another error quotes it", () => {
  for (const text of [
    "hunter2",
    '{"data":{"password": hunter2, "and": "more of it, to be cut off"}}',
    `{"a":\n"b" , hunter2}`,
    "[hunter2]",
  ]) {
    let error = new Error();
    try {
      JSON.parse(text);
    } catch (thrown) {
      error = thrown as Error;
    }
    expect(error.stack).toContain("JSON"); // JSON.parse did fail
    const described = JSON.stringify([describeError(error), describeError(new Error(`bad answer: ${error.message}`))]);
    expect(described).not.toContain("hunter2");
    expect(described).toContain("JSON");
  }
});

test("a stack contains the frames without the message, even if that has many lines", () => {
  const error = new Error("hunter2\n    at hunter2\n(hunter2)");
  expect(describeError(error).stack).toMatch(/^ {4}at .*describe-error\.test\.ts/);
  expect(describeError(error).stack).not.toContain("hunter2");
});

test("the size of a description is bounded, whatever was thrown", () => {
  const itself = new Error("itself");
  itself.cause = itself;
  expect(JSON.stringify(withoutStack(itself)).match(/itself/g)).toHaveLength(5);

  const many = () => new AggregateError(Array.from({ length: 100 }, () => new Error("x".repeat(100_000))));
  const text = JSON.stringify(describeError(new AggregateError([many(), many()])));
  expect(text.length).toBeLessThan(200_000);
});

test("an error whose getters throw is described without failing", () => {
  const hostile = new Error();
  Object.defineProperty(hostile, "message", {
    get: () => {
      throw new Error("hunter2");
    },
  });
  expect(withoutStack(hostile)).toEqual({ name: "Error", message: "it could not be described" });
});

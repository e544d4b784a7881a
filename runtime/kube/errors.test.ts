import { describe, expect, test } from "vitest";
import {
  AlreadyExists,
  ApiError,
  apiError,
  Conflict,
  DeadlineExceeded,
  Forbidden,
  Gone,
  Invalid,
  KubeError,
  NotFound,
  TryLater,
  Unauthorized,
  Unreachable,
} from "./errors.ts";

const call = { method: "PATCH", path: "/api/v1/namespaces/default/configmaps/a" };

test.each([
  [400, "BadRequest", ApiError],
  [401, "Unauthorized", Unauthorized],
  [403, "Forbidden", Forbidden],
  [404, "NotFound", NotFound],
  [409, "Conflict", Conflict],
  [409, "AlreadyExists", AlreadyExists],
  [410, "Expired", Gone],
  [410, "Gone", Gone],
  [422, "Invalid", Invalid],
  [429, "TooManyRequests", TryLater],
  [500, "InternalError", ApiError],
  [503, undefined, ApiError],
])("the error class for %i %s", (code, reason, type) => {
  const error = apiError(call, code, { message: "told why", ...(reason === undefined ? {} : { reason }) });
  expect(error.constructor).toBe(type);
  expect(error).toMatchObject({ name: type.name, code, reason: reason ?? "", message: `PATCH ${call.path}: told why` });
  expect(error).toBeInstanceOf(KubeError);
});

test.each([
  ["the header", 429, {}, "7", 7000],
  ["the body, which is more exact", 429, { details: { retryAfterSeconds: 2 } }, "7", 2000],
  ["nothing: a second", 429, {}, undefined, 1000],
  ["a date, which no API server sends: a second", 429, {}, "Wed, 21 Oct 2026 07:28:00 GMT", 1000],
  ["a server that is overloaded", 503, {}, "5", 5000],
  ["a version that is not there yet", 504, { reason: "Timeout", details: { retryAfterSeconds: 1 } }, undefined, 1000],
])("the time to come back is given by %s", (_, code, status, header, milliseconds) => {
  expect(apiError(call, code, status, header)).toMatchObject({ name: "TryLater", code, retryAfterMilliseconds: milliseconds });
});

test("Retry-After is ignored with an answer that is no server failure", () => {
  expect(apiError(call, 409, {}, "1")).toBeInstanceOf(Conflict);
});

test("DeadlineExceeded is an Unreachable, so that a handler of one handles the other", () => {
  expect(new DeadlineExceeded("late")).toBeInstanceOf(Unreachable);
});

describe("an error message quotes", () => {
  const causes = [
    { reason: "FieldValueInvalid", field: "data[password]", message: 'Invalid value: "hunter2": is too short' },
    { reason: "FieldValueRequired", field: "type", message: "Required value" },
  ];
  const status = { reason: "Invalid", message: 'Secret "a" is invalid: data[password]: Invalid value: "hunter2"', details: { causes } };

  test.each(["/api/v1/namespaces/default/secrets/a", "/api/v1/namespaces/default/secrets", "/api/v1/secrets?watch=true"])(
    "nothing of a Secret at %s but the names of its fields",
    (path) => {
      const error = apiError({ method: "PUT", path }, 422, status);
      expect(error.message).toBe(`PUT ${path}: Invalid (data[password], type)`);
      expect(error).toMatchObject({ causes: [{ reason: "FieldValueInvalid", field: "data[password]" }, { field: "type" }] });
      expect(JSON.stringify(error) + error.stack).not.toContain("hunter2");
    },
  );

  test("only the reason or the code of a Secret without causes", () => {
    const secret = { method: "GET", path: "/api/v1/namespaces/default/secrets/a" };
    expect(apiError(secret, 404, { reason: "NotFound", message: "hunter2" }).message).toBe(`GET ${secret.path}: NotFound`);
    expect(apiError(secret, 502, { message: "hunter2" }).message).toBe(`GET ${secret.path}: answered 502`);
  });

  test.each(["/api/v1/namespaces/default/configmaps/a", "/apis/example.com/v1/secretsanta"])("all for %s", (path) => {
    const error = apiError({ method: "PUT", path }, 422, status);
    expect(error.message).toContain("hunter2");
    expect(error).toMatchObject({ causes });
  });
});

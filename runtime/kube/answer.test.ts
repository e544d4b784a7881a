import { expect, test } from "vitest";
import { failure, isGone, parsed } from "./answer.ts";
import { ApiError, TryLater, Unreachable } from "./errors.ts";
import type { KubeObject, ObjectMeta } from "./object.ts";

const call = { method: "GET", path: "/api/v1/namespaces/default/configmaps/a" };

test.each([
  ["plain text", 503, "the server is starting\n", "the server is starting"],
  ["a page of a proxy's, cut", 502, `<html>${"x".repeat(500)}`, `<html>${"x".repeat(194)}`],
  ["nothing", 500, "", "answered 500"],
  ["null", 500, "null", "null"],
  ["a JSON text", 500, '"no"', '"no"'],
  ["JSON that is no Status", 404, "[]", "answered 404"],
  ["a Status", 500, '{"kind":"Status","message":"etcd is away"}', "etcd is away"],
])("the message of a failure whose body is %s", (_, status, text, message) => {
  const error = failure(call, { status, headers: {}, text });
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: status, message: `GET ${call.path}: ${message}` });
});

test("a Retry-After header counts, with plain text too", () => {
  const error = failure(call, { status: 503, headers: { "retry-after": "4" }, text: "overloaded" });
  expect(error).toBeInstanceOf(TryLater);
  expect(error).toMatchObject({ retryAfterMilliseconds: 4000 });
});

test("an answer that is not JSON counts as no answer, and is not quoted", () => {
  expect(parsed(call, '{"a":1}')).toEqual({ a: 1 });
  const act = () => parsed(call, '{"password": hunter2');
  expect(act).toThrow(Unreachable);
  expect(act).not.toThrow(/hunter2/);
});

const deletionTimestamp = "2026-01-01T00:00:00Z";
const kept = { deletionTimestamp, deletionGracePeriodSeconds: 0, finalizers: ["example.com/keep"] };

test.each<[string, string, Omit<ObjectMeta, "name">, boolean]>([
  ["a Service, returned as it was", "DELETE", {}, true],
  ["a Pod that had no node", "DELETE", { deletionTimestamp, deletionGracePeriodSeconds: 0 }, true],
  ["a Pod that has time to end", "DELETE", { deletionTimestamp, deletionGracePeriodSeconds: 30 }, false],
  ["an object with a finalizer", "DELETE", kept, false],
  ["an object whose last finalizer was removed", "PATCH", { ...kept, finalizers: [] }, true],
  ["an object that still has another finalizer", "PATCH", kept, false],
  ["a Pod that is patched while it ends", "PATCH", { deletionTimestamp, deletionGracePeriodSeconds: 30 }, false],
  ["an object that is not being deleted", "PATCH", {}, false],
])("whether the object is gone: %s", (_, method, metadata, gone) => {
  const answer: KubeObject = { apiVersion: "v1", kind: "Any", metadata: { name: "a", ...metadata } };
  expect(isGone(method, answer)).toBe(gone);
});

test("a Namespace is gone when its own finalizer is", () => {
  const namespace = (finalizers: string[]) => ({
    ...{ apiVersion: "v1", kind: "Namespace", metadata: { name: "a", deletionTimestamp } },
    spec: { finalizers },
  });
  expect(isGone("DELETE", namespace(["kubernetes"]))).toBe(false);
  expect(isGone("DELETE", namespace([]))).toBe(true);
});

import { expect, test } from "vitest";
import { type ApiRequest, matches, parseRequest } from "./request.ts";

test.each([
  ["GET", "/api/v1/namespaces/n/pods/p", { verb: "get", group: "", resource: "pods", namespace: "n", name: "p" }],
  ["GET", "/api/v1/namespaces/n/pods?limit=500", { verb: "list", resource: "pods", namespace: "n", name: undefined }],
  ["GET", "/api/v1/pods?watch=false", { verb: "list", resource: "pods", namespace: undefined, watchList: false }],
  ["GET", "/api/v1/pods?watch=true&resourceVersion=7", { verb: "watch", resource: "pods", watchList: false }],
  ["GET", "/api/v1/pods?watch=1&sendInitialEvents=true", { verb: "watch", resource: "pods", watchList: true }],
  ["GET", "/apis/sampledb.io/v1alpha1/sampledbs", { verb: "list", group: "sampledb.io", resource: "sampledbs" }],
  ["PATCH", "/apis/sampledb.io/v1alpha1/namespaces/n/sampledbs/s/status", { verb: "patch", resource: "sampledbs", subresource: "status" }],
  ["POST", "/api/v1/namespaces/n/configmaps", { verb: "create", resource: "configmaps", namespace: "n" }],
  ["PUT", "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", { verb: "update", resource: "leases", name: "l" }],
  ["DELETE", "/api/v1/namespaces/n/secrets/s", { verb: "delete", resource: "secrets" }],
  ["DELETE", "/api/v1/namespaces/n/secrets", { verb: "deletecollection", resource: "secrets" }],
  ["GET", "/api/v1/namespaces", { verb: "list", resource: "namespaces" }],
  ["GET", "/api/v1/namespaces/n", { verb: "get", resource: "namespaces", namespace: undefined, name: "n" }],
  ["PUT", "/api/v1/namespaces/n/finalize", { verb: "update", resource: "namespaces", name: "n", subresource: "finalize" }],
  ["GET", "/apis/apps/v1", { verb: "get", path: "/apis/apps/v1", resource: undefined, group: undefined }],
  ["GET", "/version", { verb: "get", resource: undefined }],
] satisfies [string, string, Partial<ApiRequest>][])("%s %s", (method, url, expected) => {
  const request = parseRequest(method, url);
  expect(request).toMatchObject(expected);
  expect(matches(expected, request)).toBe(true);
  expect(matches({ ...expected, resource: "others" }, request)).toBe(false);
  expect(matches({}, request)).toBe(true);
  expect(matches(({ verb }) => verb === expected.verb, request)).toBe(true);
  expect(matches(({ verb }) => verb !== expected.verb, request)).toBe(false);
});

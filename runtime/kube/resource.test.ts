import { describe, expect, test } from "vitest";
import { clusterScoped, namespaced, resourceName, resourcePath } from "./resource.ts";

const configMaps = namespaced("v1", "ConfigMap", "configmaps");
const leases = namespaced("coordination.k8s.io/v1", "Lease", "leases");
const nodes = clusterScoped("v1", "Node", "nodes");
const roles = clusterScoped("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles");

test.each([
  [resourcePath(configMaps, "default"), "/api/v1/namespaces/default/configmaps"],
  [resourcePath(configMaps, ""), "/api/v1/configmaps"],
  [resourcePath(configMaps, "default", "a.b"), "/api/v1/namespaces/default/configmaps/a.b"],
  [resourcePath(leases, "default", "a"), "/apis/coordination.k8s.io/v1/namespaces/default/leases/a"],
  [resourcePath(leases, "default", "a", "status"), "/apis/coordination.k8s.io/v1/namespaces/default/leases/a/status"],
  [resourcePath(nodes, "", "a"), "/api/v1/nodes/a"],
  [resourcePath(nodes, "ignored", "a"), "/api/v1/nodes/a"],
  [resourcePath(roles, "", "system:basic user?"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Abasic%20user%3F"],
])("the path %s", (path, expected) => {
  expect(path).toBe(expected);
});

test.each([
  [configMaps, "configmaps"],
  [leases, "leases.coordination.k8s.io"],
])("the name of %j", (resource, name) => {
  expect(resourceName(resource)).toBe(name);
});

describe("resourcePath refuses", () => {
  test.each(["", ".", "..", "a/status", "a%2Fstatus"])("the name %j, which would change the path's meaning", (name) => {
    expect(() => resourcePath(configMaps, "default", name)).toThrow(/no ConfigMap can be named/);
    expect(() => resourcePath(nodes, "", name)).toThrow(/no Node can be named/);
  });

  test("an object of a namespaced kind without a namespace", () => {
    expect(() => resourcePath(configMaps, "", "a")).toThrow(/in the namespace ""/);
  });
});

import { expect, test } from "vitest";
import { endpointOf } from "./services.ts";

const metadata = { name: "orders-0", namespace: "shop", uid: "uid" };
const podIPs = [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }];
const targetRef = { kind: "Pod", ...metadata };

test.each([
  ["IPv4", "192.0.2.1"],
  ["IPv6", "2001:db8::1"],
])("the endpoint of a Pod has its address of the Service's family: %s", (addressType, address) => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: "node-1", containers: [] }, status: { podIPs } };
  expect(endpointOf(pod, addressType)).toEqual({ addresses: [address], conditions: { ready: true }, nodeName: "node-1", targetRef });
});

test("a Pod without an address of the Service's family has no endpoint", () => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata };
  expect(endpointOf(pod, "IPv4")).toBeUndefined();
  expect(endpointOf({ ...pod, status: { podIPs: podIPs.slice(1) } }, "IPv4")).toBeUndefined();
});

// Whether a live object already equals its desired state.
import { describe, expect, test } from "vitest";
import { covers, sameValue } from "./difference.ts";

type Case = readonly [what: string, live: unknown, desired: unknown];

function table(name: string, expected: boolean, cases: readonly Case[]): void {
  describe(name, () => {
    test.each(cases)("%s", (_, live, desired) => {
      expect(covers(live, desired)).toBe(expected);
    });
  });
}

const container = (fields: object) => ({ spec: { containers: [{ name: "main", ...fields }] } });
const tcp = { name: "dns", port: 53, protocol: "TCP" };
const udp = { name: "dns-udp", port: 53, protocol: "UDP" };
const [a, b, c] = ["A", "B", "C"].map((name) => ({ name, value: "1" }));

table("is so already", true, [
  ["the same", { spec: { text: "a" } }, { spec: { text: "a" } }],
  ["a default that the server filled in", { spec: { type: "ClusterIP", port: 1 } }, { spec: { port: 1 } }],
  ["labels of others", { metadata: { labels: { a: "1", theirs: "2" } } }, { metadata: { labels: { a: "1" } } }],
  ["undefined is not said", { spec: { a: 1 } }, { spec: { a: 1, b: undefined } }],
  ["null, and nothing is there", { spec: {} }, { spec: { command: null } }],
  ["an empty list that the server dropped", container({}), container({ args: [] })],
  ["an empty map that the server dropped", { metadata: {} }, { metadata: { annotations: {} } }],
  ["a map of nothing but undefined", { metadata: {} }, { metadata: { labels: { a: undefined } } }],
  ["an empty struct that got defaults", { spec: { strategy: { type: "RollingUpdate" } } }, { spec: { strategy: {} } }],
  [
    "memory in another unit",
    container({ resources: { requests: { memory: "1Gi" } } }),
    container({ resources: { requests: { memory: "1024Mi" } } }),
  ],
  ["a number for a quantity", container({ resources: { limits: { cpu: "1" } } }), container({ resources: { limits: { cpu: 1 } } })],
  [
    "the request of a claim",
    { spec: { resources: { requests: { storage: "1Gi" } } } },
    { spec: { resources: { requests: { storage: "1024Mi" } } } },
  ],
  ["the size of an empty directory", { emptyDir: { sizeLimit: "1Gi" } }, { emptyDir: { sizeLimit: "1024Mi" } }],
  ["a divisor", { resourceFieldRef: { divisor: "1" } }, { resourceFieldRef: { divisor: 1 } }],
  ["a quota", { spec: { hard: { "requests.cpu": "1" } } }, { spec: { hard: { "requests.cpu": "1000m" } } }],
  ["a sidecar of another writer", { containers: [{ name: "main" }, { name: "proxy" }] }, { containers: [{ name: "main" }] }],
  [
    "a second owner",
    { ownerReferences: [{ uid: "2" }, { uid: "1", controller: true }] },
    { ownerReferences: [{ uid: "1", controller: true }] },
  ],
  ["another's finalizer", { finalizers: ["x", "a", "b"] }, { finalizers: ["b", "a"] }],
  ["ports of one number and two protocols", { spec: { ports: [tcp, udp] } }, { spec: { ports: [tcp, udp] } }],
  ["a protocol that is TCP unless said", { spec: { ports: [udp, tcp] } }, { spec: { ports: [{ name: "dns", port: 53 }] } }],
  ["a container's port", container({ ports: [{ containerPort: 80, protocol: "TCP" }] }), container({ ports: [{ containerPort: 80 }] })],
  ["a variable of another writer in between", { env: [a, c, b] }, { env: [a, b] }],
  [
    "the items of a whole list with defaults",
    { egress: [{ ports: [{ port: 80, protocol: "TCP" }] }] },
    { egress: [{ ports: [{ port: 80 }] }] },
  ],
  ["a port by its name", { spec: { ports: [{ port: 80, targetPort: "http" }] } }, { spec: { ports: [{ port: 80, targetPort: "http" }] } }],
]);

table("differs", false, [
  ["another value", { spec: { text: "a" } }, { spec: { text: "b" } }],
  ["a field that is not there", { spec: {} }, { spec: { text: "b" } }],
  ["an object where there is none", {}, { spec: { text: "b" } }],
  ["a scalar in place of an object", { spec: "x" }, { spec: { text: "b" } }],
  ["a list in place of an object", { spec: ["x"] }, { spec: { 0: "x" } }],
  ["an object in place of a list", { args: { 0: "x" } }, { args: ["x"] }],
  ["null, and something is there", { spec: { command: ["x"] } }, { spec: { command: null } }],
  ["false, and nothing is there: that may mean true", { spec: {} }, { spec: { automountServiceAccountToken: false } }],
  ["an empty list, and something is there", { subjects: [{ name: "someone" }] }, { subjects: [] }],
  ["an empty struct that is not there", { volumes: [{ name: "x", hostPath: {} }] }, { volumes: [{ name: "x", emptyDir: {} }] }],
  [
    "another amount",
    container({ resources: { requests: { memory: "1Gi" } } }),
    container({ resources: { requests: { memory: "1025Mi" } } }),
  ],
  [
    "values that are no quantities",
    container({ resources: { requests: { memory: "1Gi" } } }),
    container({ resources: { requests: { memory: "much" } } }),
  ],
  ["a quantity in a ConfigMap is text", { data: { memory: "1Gi" } }, { data: { memory: "1024Mi" } }],
  [
    "text in a ConfigMap under the name of a quantity",
    { data: { limits: "1Gi", sizeLimit: "1" } },
    { data: { limits: "1024Mi", sizeLimit: "1" } },
  ],
  [
    "text in a label that looks like a quantity",
    { metadata: { labels: { capacity: "1" } } },
    { metadata: { labels: { capacity: "1.0" } } },
  ],
  ["text in a map with the name of quantities", { data: { requests: { a: "1" } } }, { data: { requests: { a: "1.0" } } }],
  ["a missing item", { containers: [{ name: "proxy" }] }, { containers: [{ name: "main" }] }],
  ["a missing finalizer", { finalizers: ["a"] }, { finalizers: ["a", "b"] }],
  ["an owner that controls no more", { ownerReferences: [{ uid: "1" }] }, { ownerReferences: [{ uid: "1", controller: true }] }],
  ["one of two protocols", { spec: { ports: [tcp] } }, { spec: { ports: [tcp, udp] } }],
  [
    "the other protocol",
    {
      spec: {
        ports: [
          { ...tcp, targetPort: 1 },
          { ...udp, targetPort: 2 },
        ],
      },
    },
    { spec: { ports: [{ ...udp, targetPort: 1 }] } },
  ],
  [
    "a port of a policy that another writer added",
    { egress: [{ ports: [{ port: 80 }, { port: 22 }] }] },
    { egress: [{ ports: [{ port: 80 }] }] },
  ],
  ["variables in another order", { env: [b, a] }, { env: [a, b] }],
  ["arguments in another order", container({ args: ["-b", "-a"] }), container({ args: ["-a", "-b"] })],
  ["an argument more", container({ command: ["sh", "-c", "x"] }), container({ command: ["sh", "-c"] })],
  ["a subject that another writer added", { subjects: [{ name: "ours" }, { name: "theirs" }] }, { subjects: [{ name: "ours" }] }],
  ["a narrower selector", { spec: { selector: { app: "x", tier: "y" } } }, { spec: { selector: { app: "x" } } }],
  ["a policy for fewer pods", { spec: { podSelector: { matchLabels: { app: "x" } } } }, { spec: { podSelector: {} } }],
  [
    "labels that were added to a selector",
    { podSelector: { matchLabels: { a: "x", b: "y" } } },
    { podSelector: { matchLabels: { a: "x" } } },
  ],
  [
    "a port as text is a port's name",
    { spec: { ports: [{ port: 80, targetPort: 80 }] } },
    { spec: { ports: [{ port: 80, targetPort: "80" }] } },
  ],
  ["a number as text", { spec: { replicas: "1" } }, { spec: { replicas: 1 } }],
]);

test.each<[string, boolean, unknown, unknown]>([
  ["nothing", true, undefined, undefined],
  ["the same, in another order", true, { a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }],
  ["undefined is not there", true, { a: 1, b: undefined }, { a: 1 }],
  ["more on one side", false, { a: 1, b: 2 }, { a: 1 }],
  ["more on the other", false, { a: 1 }, { a: 1, b: 2 }],
  ["a list is ordered", false, [1, 2], [2, 1]],
  ["a list is whole", false, [1, 2], [1]],
  ["a list is no map", false, [], {}],
  ["null is something", false, { a: null }, {}],
  ["null and an object", false, { a: null }, { a: {} }],
  ["empty is something", false, { a: [] }, {}],
  ["types count", false, { a: "1" }, { a: 1 }],
])("sameValue: %s gives %s", (_, expected, a, b) => {
  expect(sameValue(a, b)).toBe(expected);
  expect(sameValue(b, a)).toBe(expected);
});

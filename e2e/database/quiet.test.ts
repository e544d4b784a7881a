// What counts as a write of the operator, and what is others' doing.
import { expect, test } from "vitest";
import { changesBetween, countWrites, moreRequests } from "./quiet.ts";

interface Given {
  readonly kind: string;
  readonly name?: string;
  readonly version?: string;
  readonly manager?: string;
  readonly time?: string;
  readonly reportingController?: string;
}

const object = ({ kind, name = "db", version = "1", manager = "sampledb-sampledb", time = "10:00", ...rest }: Given) => ({
  kind,
  metadata: { name, uid: `uid-${name}`, resourceVersion: version, managedFields: [{ manager, operation: "Apply", time }] },
  ...rest,
});

test.each<[string, Given[], Given[], RegExp[]]>([
  ["nothing", [{ kind: "Service" }], [{ kind: "Service" }], []],
  ["a new version", [{ kind: "Service" }], [{ kind: "Service", version: "2" }], [/was changed/]],
  ["a new object", [], [{ kind: "Secret", manager: "x" }], [/was created/]],
  ["an object that went", [{ kind: "Job" }], [], [/was deleted/]],
  [
    "Patroni's leader",
    [{ kind: "ConfigMap", name: "db-leader", manager: "Patroni" }],
    [{ kind: "ConfigMap", name: "db-leader", manager: "Patroni", version: "2" }],
    [],
  ],
  ["our own ConfigMap", [{ kind: "ConfigMap" }], [{ kind: "ConfigMap", version: "2" }], [/was changed/]],
  ["a Pod that Patroni annotates", [{ kind: "Pod" }], [{ kind: "Pod", version: "2" }], []],
  ["a Pod that the operator labels", [{ kind: "Pod" }], [{ kind: "Pod", version: "2", time: "10:01" }], [/written by sampledb-sampledb/]],
  ["the operator's Event", [], [{ kind: "Event", manager: "x", reportingController: "sampledb.io/operator" }], [/was created/]],
  ["the kubelet's Event", [], [{ kind: "Event", manager: "kubelet", reportingController: "kubelet" }], []],
  ["an Event that was old", [{ kind: "Event", reportingController: "sampledb.io/operator" }], [], []],
])("%s", (_, before, after, expected) => {
  const changes = changesBetween(before.map(object), after.map(object));
  expect(changes).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

const metric = (verb: string, group: string, resource: string, subresource: string, count: number) =>
  `apiserver_request_total{code="200",component="apiserver",dry_run="",group="${group}",resource="${resource}",scope="resource",subresource="${subresource}",verb="${verb}",version="v1"} ${count}`;

test("requests are counted that changed nothing, and nobody else's", () => {
  const before = [metric("APPLY", "", "configmaps", "", 3), metric("PUT", "", "configmaps", "", 9), metric("GET", "", "secrets", "", 1)];
  const after = [
    metric("APPLY", "", "configmaps", "", 5),
    metric("PUT", "", "configmaps", "", 90),
    metric("GET", "", "secrets", "", 10),
    metric("POST", "", "serviceaccounts", "token", 4),
    metric("PUT", "apps", "statefulsets", "status", 4),
    metric("PATCH", "sampledb.io", "sampledbs", "status", 1),
  ];
  expect(moreRequests(countWrites(before.join("\n")), countWrites(after.join("\n")))).toEqual([
    "2 requests: APPLY configmaps",
    "1 requests: PATCH sampledbs.sampledb.io/status",
  ]);
});

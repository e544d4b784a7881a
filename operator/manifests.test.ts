// References between manifests, which nothing else checks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const file = (path: string) => readFileSync(join(import.meta.dirname, "../config", path), "utf8");
const documents = (path: string) => parseAllDocuments(file(path)).map((document) => document.toJS());

test("the ServiceMonitor finds the metrics' Service and its port, and no other Service", () => {
  const { spec } = parse(file("prometheus/monitor.yaml"));
  const services = [...documents("manager/metrics_service.yaml"), ...documents("webhook/service.yaml")];
  const selected = services.filter(({ metadata }) =>
    Object.entries(spec.selector.matchLabels).every(([label, value]) => metadata.labels[label] === value),
  );
  expect(selected.map(({ metadata }) => metadata.name)).toEqual(["sampledb-metrics"]);
  expect(selected[0].spec.ports.map(({ name }: { name: string }) => name)).toContain(spec.endpoints[0].port);
});

test("Prometheus is bound to an existing role", () => {
  const [binding] = documents("prometheus/reader.yaml");
  expect(documents("rbac/operator_role.yaml").map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toContain(
    `${binding.roleRef.kind} ${binding.roleRef.name}`,
  );
});

test("a cluster without Prometheus can be deployed to, and each variant has the policies", () => {
  const { resources } = parse(file("default/kustomization.yaml"));
  expect(resources).toContain("../policy");
  expect(resources).not.toContain("../prometheus");
});

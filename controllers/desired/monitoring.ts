// What tells the Prometheus operator to scrape the instances.
import { labelNames } from "../../api/labels.ts";
import type { PodMonitor } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { metricsPortName } from "./exporter.ts";
import { instanceSelector, owned } from "./identity.ts";
import { namesOf } from "./names.ts";

/** `labels` are for a Prometheus that picks its monitors by label; ours stay what they are. */
export function podMonitor(db: SampleDB, labels: Readonly<Record<string, string>>): PodMonitor {
  const metadata = owned(db, namesOf(db).podMonitor);
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PodMonitor",
    metadata: { ...metadata, labels: { ...labels, ...metadata.labels } },
    spec: {
      selector: { matchLabels: instanceSelector(db) },
      podMetricsEndpoints: [
        {
          port: metricsPortName,
          path: "/metrics",
          // As the operator's own metrics call it, so that the two can be joined.
          relabelings: [{ sourceLabels: [`__meta_kubernetes_pod_label_${escaped(labelNames.database)}`], targetLabel: "name" }],
        },
      ],
    },
  };
}

/** How Prometheus writes a label of Kubernetes. */
function escaped(label: string): string {
  return label.replace(/[^a-zA-Z0-9_]/g, "_");
}

// The PodMonitor, by which the Prometheus operator scrapes the instances.
import { labelNames } from "../../api/labels.ts";
import type { PodMonitor } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { metricsPortName } from "./exporter.ts";
import { instanceSelector, owned } from "./identity.ts";
import { namesOf } from "./names.ts";

/** `labels` are for a Prometheus that selects its monitors by label. They never replace the operator's own labels. */
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
          // The label's name in the operator's own metrics, so that queries can join the two.
          relabelings: [{ sourceLabels: [`__meta_kubernetes_pod_label_${escaped(labelNames.database)}`], targetLabel: "name" }],
        },
      ],
    },
  };
}

/** Prometheus' spelling of a Kubernetes label. */
function escaped(label: string): string {
  return label.replace(/[^a-zA-Z0-9_]/g, "_");
}

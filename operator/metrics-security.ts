// Who may read the operator's metrics: asked of the API server, or everybody on loopback.
import type { KubeClient } from "../runtime/kube/client.ts";
import type { MetricsSecurity } from "../runtime/observability/metrics-server.ts";
import type { Settings } from "./flags.ts";

/** Rejects for an operator of some namespaces without the right to ask. One that OLM has installed has it. */
export async function metricsSecurity(
  { metricsSecure, metricsCertificates, metricsAddress, namespaces }: Settings,
  client: KubeClient,
): Promise<MetricsSecurity> {
  if (!metricsSecure) return { kind: "http" };
  if (namespaces.length > 0 && metricsAddress !== "0" && !(await mayAskWhoReads(client))) {
    throw new Error(
      "with --watch-namespaces the operator has no right to ask who may read metrics: serve them on loopback with --metrics-secure=false --metrics-bind-address=127.0.0.1:8080, or switch them off with --metrics-bind-address=0",
    );
  }
  return { kind: "https", client, certificateDirectory: metricsCertificates };
}

async function mayAskWhoReads(client: KubeClient): Promise<boolean> {
  const rights = [
    { group: "authentication.k8s.io", resource: "tokenreviews" },
    { group: "authorization.k8s.io", resource: "subjectaccessreviews" },
  ];
  const answers = await Promise.all(rights.map((right) => mayCreate(client, right)));
  return answers.every(Boolean);
}

async function mayCreate(client: KubeClient, right: { readonly group: string; readonly resource: string }): Promise<boolean> {
  const apiVersion = "authorization.k8s.io/v1";
  const review = { apiVersion, kind: "SelfSubjectAccessReview", spec: { resourceAttributes: { ...right, verb: "create" } } };
  const answer = await client.raw<{ status: { allowed: boolean } }>("POST", `/apis/${apiVersion}/selfsubjectaccessreviews`, review);
  return answer.status.allowed;
}

// The blockers of a SampleDB: those that the steps found, and the problems of its instances.
import { replaceAnnotation } from "../../../api/annotations.ts";
import { passedOn, reasons } from "../../../api/reasons.ts";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { type Instance, nodeLost, type Problem } from "../../database/instance.ts";
import { type Blocker, tellBlockers } from "../../telling/blockers.ts";
import type { StatusInputs } from "./readiness.ts";

export function blockersOf({ db, observed, findings, now }: StatusInputs): NonNullable<SampleDBStatus["blockers"]> {
  const ofInstances = observed.instances.flatMap((instance) => ofInstance(instance, observed.initialized));
  return tellBlockers(db.status?.blockers, [...findings.blockers, ...ofInstances], now());
}

function ofInstance({ podName, problem }: Instance, hasData: boolean): Blocker[] {
  if (!problem) return [];
  return [
    {
      reason: passedOn(problem.reason),
      message: `${podName} ${problem.reason === nodeLost ? "is lost" : "does not start"}: ${problem.message || problem.reason}`,
      remedy: `${remedies[problem.reason] ?? "kubectl describe pod tells more"}${forVolume(problem, podName, hasData)}`,
    },
  ];
}

const remedies: Readonly<Record<string, string>> = {
  [nodeLost]: "none is needed if the node comes back; if only the node is gone for good, and not its volume, kubectl delete node",
  [reasons.unschedulable]: "make room, or change resources, nodeSelector, affinity or tolerations so that a node fits",
  [reasons.errImagePull]: "correct spec.image, or give the nodes access to it (imagePullSecrets)",
  [reasons.imagePullBackOff]: "correct spec.image, or give the nodes access to it (imagePullSecrets)",
  [reasons.invalidImageName]: "correct spec.image",
  [reasons.crashLoopBackOff]: "look at the logs of the container postgres; take back what was changed last",
  [reasons.createContainerConfigError]: "make the Secret or ConfigMap that the message names again",
};

/** Class and size of a claim can't be changed. Without data, the user can make the SampleDB anew; with data, only order a new instance. */
function forVolume({ reason }: Problem, podName: string, hasData: boolean): string {
  if (reason !== reasons.unschedulable && reason !== nodeLost) return "";
  return hasData
    ? `; if its volume is gone for good, annotate the SampleDB with ${replaceAnnotation}=${podName}`
    : "; if storage.storageClassName or the size is wrong, delete the SampleDB and make it anew: it has no data yet";
}

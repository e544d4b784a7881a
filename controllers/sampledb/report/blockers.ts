// What stands in the way, with the way out, and since when.
import { replaceAnnotation } from "../../../api/annotations.ts";
import { passedOn, reasons } from "../../../api/reasons.ts";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { secondsOnly } from "../../../runtime/controller/conditions.ts";
import { type Instance, nodeLost, type Problem } from "../../database/instance.ts";
import type { Blocker } from "../scope.ts";
import type { StatusInputs } from "./readiness.ts";

type Told = NonNullable<SampleDBStatus["blockers"]>;

const most = 16;
const longest = 4096;

/** The same thing keeps its time for as long as it is told. */
export function blockersOf({ db, observed, findings, now }: StatusInputs): Told {
  const found = [...findings.blockers, ...observed.instances.flatMap((instance) => ofInstance(instance, observed.initialized))];
  return found.slice(0, most).map(({ reason, message, remedy }) => {
    const before = db.status?.blockers?.find((blocker) => blocker.reason === reason && blocker.message === message.slice(0, longest));
    const sinceTime = before?.sinceTime ?? secondsOnly(now());
    return { reason, message: message.slice(0, longest), remedy, sinceTime };
  });
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

/** What can't be changed of storage can be made anew for as long as there is nothing on it. */
function forVolume({ reason }: Problem, podName: string, hasData: boolean): string {
  if (reason !== reasons.unschedulable && reason !== nodeLost) return "";
  return hasData
    ? `; if its volume is gone for good, annotate the SampleDB with ${replaceAnnotation}=${podName}`
    : "; if storage.storageClassName or the size is wrong, delete the SampleDB and make it anew: it has no data yet";
}

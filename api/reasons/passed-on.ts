// Reasons that Kubernetes gives for a Pod that does not start. The operator passes them on as blockers, in Kubernetes' own words.
import { replaceAnnotation } from "../annotations.ts";
import type { Descriptions } from "./description.ts";

const imageCommands = ["kubectl describe pod POD", "kubectl edit sampledb NAME"];

export const passedOnReasons = {
  unschedulable: {
    name: "Unschedulable",
    where: ["blocker"],
    meaning: "The scheduler finds no node for the instance. The message says what each node lacks.",
    wayOut:
      "Make room, or change `spec.resources`, `nodeSelector`, `affinity` or `tolerations` so that a node fits. If the volume is bound to a node that is gone for good, have the instance made anew. If the database has no data yet and the storage class or the size is wrong, delete the SampleDB and make it anew.",
    commands: ["kubectl describe pod POD", `kubectl annotate sampledb NAME ${replaceAnnotation}=POD   # the volume is gone for good`],
  },
  errImagePull: {
    name: "ErrImagePull",
    where: ["blocker"],
    meaning: "The kubelet could not pull the image of the instance. The message has the registry's answer.",
    wayOut: "Correct `spec.image`, or give the nodes access to the registry with `spec.imagePullSecrets`.",
    commands: imageCommands,
  },
  imagePullBackOff: {
    name: "ImagePullBackOff",
    where: ["blocker"],
    meaning: "The kubelet could not pull the image of the instance, and waits before it tries again.",
    wayOut: "Correct `spec.image`, or give the nodes access to the registry with `spec.imagePullSecrets`.",
    commands: imageCommands,
  },
  invalidImageName: {
    name: "InvalidImageName",
    where: ["blocker"],
    meaning: "The kubelet can't read the name of the image.",
    wayOut: "Correct `spec.image`.",
    commands: imageCommands,
  },
  crashLoopBackOff: {
    name: "CrashLoopBackOff",
    where: ["blocker"],
    meaning:
      "A container of the instance has ended several times, and the kubelet waits longer and longer before it starts it again. The message has the last exit code.",
    wayOut:
      "Look at the log of the run before. Take back what was changed last. Exit code 137 often means that the memory limit is too low.",
    commands: ["kubectl logs POD --container=postgres --previous", "kubectl describe pod POD"],
  },
  createContainerConfigError: {
    name: "CreateContainerConfigError",
    where: ["blocker"],
    meaning:
      "A Secret or a ConfigMap that the Pod names does not exist. The operator makes a Secret of its own anew at once, see PasswordLost.",
    wayOut: "Wait for a minute. If it lasts, create the Secret or the ConfigMap that the message names.",
    commands: ["kubectl describe pod POD"],
  },
  createContainerError: {
    name: "CreateContainerError",
    where: ["blocker"],
    meaning: "The container runtime of the node could not create the container. The message has its error.",
    wayOut:
      "Mend what the message names: often the node's disk or its container runtime. Delete the Pod to have another node chosen, if the volume can follow.",
    commands: ["kubectl describe pod POD", "kubectl describe node NODE"],
  },
  runContainerError: {
    name: "RunContainerError",
    where: ["blocker"],
    meaning: "The container was created, and the container runtime of the node could not start it. The message has its error.",
    wayOut: "Mend what the message names: often the image is of another architecture, or the node's container runtime is at fault.",
    commands: ["kubectl describe pod POD", "kubectl describe node NODE"],
  },
} as const satisfies Descriptions;

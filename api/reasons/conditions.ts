// Reasons of conditions. Some of them are told as a blocker as well, or as an Event.
import { instanceAnnotations } from "../annotations.ts";
import { labelNames } from "../labels.ts";
import { type Descriptions, nothing } from "./description.ts";

export const conditionReasons = {
  allInstancesReady: {
    name: "AllInstancesReady",
    where: ["Ready"],
    meaning: "Ready is True. All instances answer SQL, and every replica could take over from the primary.",
    wayOut: nothing,
  },
  invalidSpec: {
    name: "InvalidSpec",
    where: ["Ready", "UpToDate", "Succeeded", "event"],
    meaning:
      "The operator can't act on the spec. The webhook that refuses such a spec was off when it was written. The operator changes nothing until the spec is valid. Instances that run go on, and fail over by themselves.",
    wayOut: "Correct the fields that the message names.",
    commands: ["kubectl edit sampledb NAME"],
  },
  nameTaken: {
    name: "NameTaken",
    where: ["Ready"],
    meaning:
      "An object with a name that the operator needs exists, and was not made for this SampleDB. The operator does not touch this object, and can't make its own.",
    wayOut: "Rename or delete the object that the message names, or give the SampleDB another name. The operator goes on by itself then.",
  },
  provisioning: {
    name: "Provisioning",
    where: ["Ready", "PrimaryAvailable"],
    meaning:
      "The first instance is being made. No connection is possible yet. If a step fails, the message has the error, and the operator tries again.",
    wayOut: "Wait; a minute is usual. If it takes longer, look at the blockers, the Pod and its volume claim.",
    commands: ["kubectl describe sampledb NAME", "kubectl describe pod NAME-0", "kubectl describe pvc data-NAME-0"],
  },
  primaryAvailable: {
    name: "PrimaryAvailable",
    where: ["PrimaryAvailable"],
    meaning: "PrimaryAvailable is True. An instance takes writes, and the Service NAME-rw leads to it.",
    wayOut: nothing,
  },
  noPrimary: {
    name: "NoPrimary",
    where: ["Ready", "PrimaryAvailable"],
    meaning:
      "Nobody can write. No instance leads, or the instance that leads does not answer SQL, or the Service NAME-rw does not lead to it yet. The instances elect a primary by themselves: within seconds after a crash, within half a minute after the loss of a node.",
    wayOut:
      "Wait for a minute. If there is still no primary, look at the blockers, at the Pods and at their logs. If too few instances are left for an election, see [what it survives](databases.md#what-it-survives).",
    commands: [
      "kubectl describe sampledb NAME",
      `kubectl get pods --selector=${labelNames.database}=NAME --output=wide`,
      "kubectl logs POD --container=postgres --tail=100",
    ],
  },
  instancesNotReady: {
    name: "InstancesNotReady",
    where: ["Ready"],
    meaning:
      "Fewer instances answer SQL than `spec.replicas` asks for. Applications work while PrimaryAvailable is True. The message names the instances.",
    wayOut:
      "Look at the blockers: each says why an instance does not start, and the way out. An instance that is only starting needs nobody.",
    commands: ["kubectl describe sampledb NAME", "kubectl describe pod POD", "kubectl logs POD --container=postgres"],
  },
  noFailoverCandidate: {
    name: "NoFailoverCandidate",
    where: ["Ready"],
    meaning:
      "All instances answer SQL, but no replica could take over if the primary were lost now. With `synchronousReplication: Required` commits may wait. The disruption budget lets no instance be evicted meanwhile. After a change of primary this lasts for seconds.",
    wayOut:
      "Wait for a minute. If it lasts, look in the logs of the replicas for the reason why they do not receive what the primary writes. The operator copies a replica anew that has not followed for two minutes.",
    commands: ["kubectl logs POD --container=postgres --tail=100"],
  },
  replicasBehind: {
    name: "ReplicasBehind",
    where: ["Ready"],
    meaning:
      "All instances answer SQL, and some replicas, but not all, could take over. The disruption budget lets no instance be evicted meanwhile, so a drain of a node waits. After a change of an instance this lasts for seconds.",
    wayOut: "Wait for a minute. If it lasts, look in the logs of the replicas that the message names.",
    commands: ["kubectl logs POD --container=postgres --tail=100"],
  },
  scaling: {
    name: "Scaling",
    where: ["Ready"],
    meaning:
      "More instances are there than `spec.replicas` asks for. The operator takes away those with the highest numbers. If the primary is among them, it hands over first.",
    wayOut: "Wait.",
  },
  resizing: {
    name: "Resizing",
    where: ["Ready"],
    meaning: "Volumes are growing to `spec.storage.size`. The database serves meanwhile.",
    wayOut: "Wait. If a volume can't grow, the blocker `VolumeCannotGrow` says why.",
    commands: ["kubectl describe pvc data-NAME-0"],
  },
  hibernating: {
    name: "Hibernating",
    where: ["Ready", "PrimaryAvailable"],
    meaning: "`spec.powerState` is Hibernated, and the instances are stopping: the replicas first, the primary last.",
    wayOut: "Wait, or set `spec.powerState` to Running.",
  },
  hibernated: {
    name: "Hibernated",
    where: ["Ready", "PrimaryAvailable"],
    meaning: "`spec.powerState` is Hibernated. All instances are stopped, and their volumes are kept. No connection is possible.",
    wayOut: "Set `spec.powerState` to Running to wake the database.",
    commands: [`kubectl patch sampledb NAME --type=merge --patch='{"spec":{"powerState":"Running"}}'`],
  },
  deleting: {
    name: "Deleting",
    where: ["Ready"],
    meaning:
      "The SampleDB is being deleted. The operator waits until the instances that the message names have stopped. Then volumes and passwords stay, or go if `spec.deletionPolicy` is Delete. With Snapshot it makes a last Backup first, and the message names the phase and since when it lasts ([deleting](deleting.md)).",
    wayOut: "Wait. If a Pod does not end because its node is gone, delete the node. A deletion can't be taken back.",
    commands: [`kubectl get pods --selector=${labelNames.database}=NAME --output=wide`, "kubectl delete node NODE   # it is gone for good"],
  },
  restoringInPlace: {
    name: "Restoring",
    where: ["Ready"],
    meaning:
      "A Restore replaces the data of this SampleDB in place. The message and `status.restore` have the phase ([restores](restores.md#in-place)).",
    wayOut: "Wait. Until the phase Restoring, deleting the Restore takes everything back.",
    commands: ["kubectl get restores --watch"],
  },
  paused: {
    name: "Paused",
    where: ["Ready", "PrimaryAvailable", "UpToDate"],
    meaning:
      "`spec.paused` is true. The operator leaves everything alone except a deletion. The database serves and fails over by itself. Changes of the spec wait.",
    wayOut: "Set `spec.paused` to false when the operator is to go on.",
    commands: [`kubectl patch sampledb NAME --type=merge --patch='{"spec":{"paused":false}}'`],
  },
  initializing: {
    name: "Initializing",
    where: ["Ready", "Initialized"],
    meaning: "The Job NAME-init makes what `spec.bootstrap` asks for: role, database, extensions, then the scripts.",
    wayOut: "Wait. Scripts may take as long as they need. If the Job can't go on, the blocker `InitializationStuck` says why.",
    commands: ["kubectl logs job/NAME-init"],
  },
  initialized: {
    name: "Initialized",
    where: ["Initialized", "event"],
    meaning: "Initialized is True. What `spec.bootstrap` asks for is in the database.",
    wayOut: nothing,
  },
  initializationFailed: {
    name: "InitializationFailed",
    where: ["Ready", "Initialized", "blocker"],
    meaning:
      "PostgreSQL has refused a script or an extension of `spec.bootstrap`. The message has the source, the line and PostgreSQL's error. The scripts before it are in the database, the failed one has left nothing.",
    wayOut:
      "Correct the script in its ConfigMap or Secret, or correct `spec.bootstrap`. The operator notices within seconds and goes on from the failed script.",
    commands: ["kubectl logs job/NAME-init"],
  },
  scriptMissing: {
    name: "ScriptMissing",
    where: ["Ready", "Initialized", "blocker"],
    meaning: "`spec.bootstrap.scripts` names a ConfigMap, a Secret or a key that does not exist.",
    wayOut: "Create it, or correct the name. The operator looks again every ten seconds.",
  },
  upToDate: {
    name: "UpToDate",
    where: ["UpToDate"],
    meaning: "UpToDate is True. Every instance runs as the spec asks.",
    wayOut: nothing,
  },
  changeOnTrial: {
    name: "ChangeOnTrial",
    where: ["Ready", "UpToDate"],
    meaning:
      "PostgreSQL is started with the change in a Pod of its own, before any instance gets it. The instances go on as they were. If the database is hibernated, the trial begins when it is woken. If the change comes from a newer operator, only UpToDate says so, and Ready does not wait for it.",
    wayOut: "Wait.",
    commands: ["kubectl logs job/NAME-trial"],
  },
  changeRefused: {
    name: "ChangeRefused",
    where: ["Ready", "UpToDate", "blocker"],
    meaning:
      "The change was tried in a Pod of its own and does not work: PostgreSQL does not start with it, or the Pod does not start. No instance has it, and the database serves as before. The message has the error. A trial that failed without a word from PostgreSQL is repeated after five minutes.",
    wayOut:
      "Correct or take back what was changed last: image, resources, placement, `postgresql.parameters` or `postgresql.hba`. If nobody changed the spec, the change comes from a newer operator: mend what the message names, or deploy the former version of the operator.",
    commands: ["kubectl logs job/NAME-trial", "kubectl edit sampledb NAME"],
  },
  rollingOut: {
    name: "RollingOut",
    where: ["Ready", "UpToDate"],
    meaning:
      "A change is being brought to the instances, one at a time: the replicas first, then after a switchover the old primary. The message says what the operator does or waits for. Applications lose their connections when the primary changes or restarts.",
    wayOut: "Wait. If the message names the same instance for minutes, look at that instance.",
    commands: ["kubectl describe pod POD", "kubectl logs POD --container=postgres --tail=100"],
  },
  restartPending: {
    name: "RestartPending",
    where: ["UpToDate"],
    meaning:
      "A newer operator would make the Pods or settings of these instances differently. Nobody has asked for that, so nothing is restarted. The instances serve, and do what the spec asks.",
    wayOut: "Order a restart when it suits. Nothing is wrong without it.",
    commands: [`kubectl annotate sampledb NAME ${instanceAnnotations.restart}="$(date)" --overwrite`],
  },
  reconcileFailed: {
    name: "ReconcileFailed",
    where: ["Ready"],
    meaning:
      "The operator could not finish its work; the message has the errors. All instances answer. The operator tries again by itself, later and later.",
    wayOut:
      "Mend what the message names: often a right that the operator lacks, an admission rule that refuses, or an API server that does not answer. The operator's log has more.",
    commands: ["kubectl --namespace=sampledb-system logs --selector=app.kubernetes.io/name=sampledb-operator --tail=200"],
  },
  notSupported: {
    name: "NotSupportedByThisVersion",
    where: ["Ready", "UpToDate"],
    meaning:
      "The spec asks for something that this version of the operator does not do: an upgrade of the data to another major version of PostgreSQL. Nothing of that was done. The database serves as before.",
    wayOut: "For another major version make a new SampleDB and move the data with `pg_dump`, or set `spec.postgresVersion` back.",
  },
} as const satisfies Descriptions;

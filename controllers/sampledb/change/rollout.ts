// Brings what was asked to every instance, one after the other.
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { pods } from "../../kinds/kubernetes.ts";
import { switchover } from "../election/switchover.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { restartWord } from "./restart-word.ts";
import { nextRolloutAction } from "./rollout-action.ts";

/** A switchover that Patroni did not carry out is looked at again; what changes brings us back before. */
const lookAgainSeconds = 10;

export const rollout: SampleDBStep = async (scope) => {
  const { db, choices, deps, observed, findings, client, key, signal } = scope;
  if (findings.trial.kind !== "accepted") return done;
  const action = nextRolloutAction({
    instances: observed.instances,
    wanted: db.spec.replicas,
    asked: choices.askedDigest(restartWord(db, observed)),
    newest: observed.statefulSet?.status?.updateRevision,
    settled: !findings.settling,
  });
  if (action.kind !== "none" && isBusy(scope)) {
    findings.rollout = "waits for what is under way: the first instance, or a switchover";
    return doneUntil(lookAgainSeconds);
  }
  switch (action.kind) {
    case "none":
      return done; // settings may still be on their way: then that is told
    case "wait":
      findings.rollout = `waits for ${action.for}`;
      return doneUntil(lookAgainSeconds);
    case "replace": {
      const { podName, uid } = action.instance;
      findings.rollout = `makes the Pod of ${podName} anew`;
      await client.delete(pods, { namespace: key.namespace, name: podName }, { uid });
      deps.events.record(db, { type: "Normal", reason: reasons.instanceReplaced, action: "Replace", note: `Pod ${podName} is made anew` });
      return doneUntil(lookAgainSeconds);
    }
    case "switchover":
      findings.rollout = `hands over from ${action.from.podName} to ${action.to.podName}`;
      await switchover(scope, action.from, action.to);
      return doneUntil(lookAgainSeconds);
    case "restart":
      findings.rollout = `restarts PostgreSQL in ${action.instance.podName}`;
      await (await deps.patroni(db, action.instance)).restart({ ifPending: true, signal });
      return doneUntil(lookAgainSeconds);
  }
};

/** Nobody is taken away from what is under way: a first instance that is cut short can't be taken up again, and an heir is waited for. */
function isBusy({ observed, findings }: Scope): boolean {
  return observed.bootstrapping || findings.switchoverOrdered || observed.patroni.order?.to !== undefined;
}

// The rollout: carries out the next action of rollout-action.ts, one in each reconcile.
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { pods } from "../../kinds/kubernetes.ts";
import { switchover } from "../election/switchover.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { restartWord } from "./restart-word.ts";
import { nextRolloutAction } from "./rollout-action.ts";

/** A watch causes the next reconcile when something changes. This is for a switchover that Patroni did not carry out. */
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
      return done; // findings.rollout stays: instances may not have read their settings yet
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

/** No instance is taken away during a bootstrap, which Patroni can't resume, or during a switchover, which might name that instance. */
function isBusy({ observed, findings }: Scope): boolean {
  return observed.bootstrapping || findings.switchoverOrdered || observed.patroni.order?.to !== undefined;
}

// Patroni's configuration, and the objects in which it keeps its state.
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { dynamicConfig, patroniConfig, patroniStates, settingsSinceAnnotation } from "../../desired/configuration.ts";
import { configMaps } from "../../kinds.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

/** An instance looks at its settings at the latest after this; only then is it known what waits for a restart. */
const settlingSeconds = 10;

export const configuration: SampleDBStep = async (scope) => {
  const { db, objects, findings, observed, deps } = scope;
  if (findings.trial.kind === "accepted") {
    await objects.apply(configMaps, patroniConfig(db));
    await objects.apply(configMaps, dynamicConfig(db, { since: settingsSince(scope), initialized: observed.initialized }));
  }
  await Promise.all(patroniStates(db).map((object) => objects.apply(configMaps, object)));
  const since = observed.instances.length > 0 ? Date.parse(settingsSince(scope)) : 0;
  const settled = (since - deps.now().getTime()) / 1000 + settlingSeconds;
  if (settled <= 0) return done;
  findings.rollout = "the instances read their new settings";
  return doneUntil(settled);
};

/** When the settings that are wanted were written. What changes with the end of the making is no change: nobody has to settle. */
function settingsSince({ db, observed: { dynamicConfig: live }, deps, findings }: Scope): string {
  const { config, [settingsSinceAnnotation]: since } = live?.metadata.annotations ?? {};
  const wanted = [false, true].map((initialized) => dynamicConfig(db, { since: "", initialized }).metadata.annotations?.["config"]);
  const same = findings.trial.kind !== "accepted" || wanted.includes(config);
  return same && since !== undefined ? since : deps.now().toISOString();
}

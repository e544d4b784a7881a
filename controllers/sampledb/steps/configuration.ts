// Patroni's configuration, and the objects in which it keeps its state.
import { done } from "../../../runtime/controller/steps.ts";
import { dynamicConfig, patroniConfig, patroniStates } from "../../desired/configuration.ts";
import { configMaps } from "../../kinds.ts";
import type { SampleDBStep } from "../scope.ts";

export const configuration: SampleDBStep = async ({ db, objects, findings }) => {
  const accepted = findings.trial.kind === "accepted";
  const wanted = accepted ? [patroniConfig(db), dynamicConfig(db)] : [];
  await Promise.all([...wanted, ...patroniStates(db)].map((object) => objects.apply(configMaps, object)));
  return done;
};

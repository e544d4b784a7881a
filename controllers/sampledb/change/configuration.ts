// Patroni's configuration, and the objects in which it keeps its state.
import { settingsSinceAnnotation } from "../../../api/annotations.ts";
import { wanted } from "../../../runtime/controller/kept.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { dynamicConfig, patroniConfig, patroniStates } from "../../desired/configuration.ts";
import { type Asked, heldSettings, settingsNotes } from "../../desired/held-settings.ts";
import { jsonAnnotation } from "../../kinds/json-annotation.ts";
import { configMaps } from "../../kinds/kubernetes.ts";
import { restartWord, type SampleDBStep, type Scope } from "../scope.ts";

/** An instance looks at its settings at the latest after this; only then is it known what waits for a restart. */
const settlingSeconds = 10;

export const configuration: SampleDBStep = async (scope) => {
  const { db, choices, objects, findings, observed, deps } = scope;
  const asked = { db, restart: restartWord(db, observed) };
  const { since, held } = settingsStage(scope, asked);
  if (findings.trial.kind === "accepted") {
    const { initialized } = observed;
    await objects.keep(db, "patroni", choices.digest, () => [wanted(configMaps, patroniConfig(db))]);
    await objects.keep(db, "settings", JSON.stringify([choices.digest, since, initialized, asked.restart, held]), () => [
      wanted(configMaps, dynamicConfig(db, { since, initialized, notes: settingsNotes(asked, held) })),
    ]);
  } else {
    await endMaking(scope);
  }
  // Each by itself: one of them is written by the leader in every loop.
  await Promise.all(
    patroniStates(db).map((state) => objects.keep(db, state.metadata.name, choices.digest, () => [wanted(configMaps, state)])),
  );
  const settled = (Date.parse(since) - deps.now().getTime()) / 1000 + settlingSeconds;
  if (settled <= 0 || observed.instances.length === 0) return done;
  findings.settling = true;
  findings.rollout = "the instances read their new settings";
  return doneUntil(settled);
};

/** What is different while a database is made ends with it, also where something else is on trial meanwhile. */
async function endMaking({ observed: { dynamicConfig: live, initialized }, client }: Scope): Promise<void> {
  const settings = jsonAnnotation<{ synchronous_mode: string }>(live, "config");
  if (!live || !initialized || settings.synchronous_mode !== "on") return;
  const config = JSON.stringify({ ...settings, synchronous_mode: "quorum" });
  await client.mergePatch(configMaps, keyOf(live), { metadata: { annotations: { config } } });
}

/**
 * When the settings that are wanted were written, and which of them nobody has asked for. What changes with the end of the making is no
 * change: nobody has to settle.
 */
function settingsStage(
  { choices, observed: { dynamicConfig: live }, deps, findings }: Scope,
  asked: Asked,
): { readonly since: string; readonly held: readonly string[] } {
  const { config, [settingsSinceAnnotation]: since } = live?.metadata.annotations ?? {};
  const same = findings.trial.kind !== "accepted" || [true, false].some((initialized) => choices.settings(initialized) === config);
  return { since: same && since !== undefined ? since : deps.now().toISOString(), held: heldSettings(live, asked) };
}

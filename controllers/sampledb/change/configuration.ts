// Patroni's configuration, and the ConfigMaps in which Patroni stores its state.
import { settingsSinceAnnotation } from "../../../api/annotations.ts";
import { wanted } from "../../../runtime/controller/kept.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { isControlledBy } from "../../../runtime/kube/object.ts";
import { type LetGo, notesWanted } from "../../desired/archive-notes.ts";
import { dynamicConfig, letGoFile, patroniConfig, patroniStates } from "../../desired/configuration.ts";
import { type Asked, heldSettings, settingsNotes } from "../../desired/held-settings.ts";
import { namesOf } from "../../desired/names.ts";
import { type ConfigMap, configMaps } from "../../kinds/kubernetes.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { restartWord } from "./restart-word.ts";

/** Every instance has read its settings after this time. Only then does the operator know which settings wait for a restart. */
const settlingSeconds = 10;

export const configuration: SampleDBStep = async (scope) => {
  const { db, choices, objects, findings, observed, deps, client } = scope;
  // A restore has closed the settings. While a change is not accepted, nothing below would let the applications in again.
  await observed.patroni.settings?.reopen(client);
  const letGo = letGoNow(scope);
  const asked = { db, restart: restartWord(db, observed) };
  const { since, held } = settingsStage(scope, asked);
  if (findings.trial.kind === "accepted") {
    const { initialized } = observed;
    await objects.keep(db, "patroni", JSON.stringify([choices.digest, letGo]), () => [wanted(configMaps, patroniConfig(db, letGo))]);
    await objects.keep(db, "settings", JSON.stringify([choices.digest, since, initialized, asked.restart, held]), () => [
      wanted(configMaps, dynamicConfig(db, { since, initialized, notes: settingsNotes(asked, held) })),
    ]);
  } else {
    // Patroni's file has no setting that could be on trial. A Pod without it does not start, and a full volume can't wait for a trial.
    if (!hasOwnFile(scope, patroniConfig(db, letGo))) await objects.apply(configMaps, patroniConfig(db, letGo));
    await endMaking(scope);
  }
  // Each by itself: the leader writes one of them in every loop, and that must not cause a comparison of the others.
  await Promise.all(
    patroniStates(db).map((state) => objects.keep(db, state.metadata.name, choices.digest, () => [wanted(configMaps, state)])),
  );
  findings.confirmed.add("configuration");
  const unsettled = secondsUntilSettled(since, deps.now());
  if (unsettled <= 0 || observed.instances.length === 0) return done;
  findings.settling = true;
  findings.rollout = "the instances read their new settings";
  return doneUntil(unsettled);
};

function secondsUntilSettled(since: string, now: Date): number {
  return (Date.parse(since) - now.getTime()) / 1000 + settlingSeconds;
}

/** How long until every instance has read these settings; 0 or less when all have. */
export function unsettledSeconds(settings: ConfigMap | undefined, now: Date): number {
  const since = settings?.metadata.annotations?.[settingsSinceAnnotation];
  return since === undefined ? 0 : secondsUntilSettled(since, now);
}

/** Whether Patroni's file of an earlier reconcile is there, this database's own, and tells the same segments to let go. */
export function hasOwnFile({ db, deps, key }: Scope, { data }: ConfigMap): boolean {
  const file = deps.cache.watched(configMaps).get({ namespace: key.namespace, name: namesOf(db).patroniConfig });
  return isControlledBy(file, db) && file?.data?.[letGoFile] === data?.[letGoFile];
}

/** Only while the data is that of which a person has let segments go. */
export function letGoNow({ db, observed: { repository, patroni } }: Pick<Scope, "db" | "observed">): LetGo | undefined {
  const { letGo } = notesWanted(repository.config, db);
  return letGo && letGo.systemIdentifier === patroni.settings?.systemIdentifier ? letGo : undefined;
}

/** Ends the settings that are good only while an instance makes the data, also while a change is on trial. */
async function endMaking({ observed: { patroni, initialized }, client }: Scope): Promise<void> {
  if (initialized && patroni.settings?.synchronousMode === "on") await patroni.settings.setSynchronousMode(client, "quorum");
}

/**
 * When the present settings were first written, and which of them are held. The settings while an instance makes the data differ from those
 * afterwards. That is no change: no rollout waits for it.
 */
function settingsStage(
  { choices, observed: { patroni }, deps, findings }: Scope,
  asked: Asked,
): { readonly since: string; readonly held: readonly string[] } {
  const live = patroni.settings;
  const since = live?.object.metadata.annotations?.[settingsSinceAnnotation];
  const same = findings.trial.kind !== "accepted" || [true, false].some((initialized) => choices.settings(initialized) === live?.text);
  return { since: same && since !== undefined ? since : deps.now().toISOString(), held: heldSettings(live?.object, asked) };
}

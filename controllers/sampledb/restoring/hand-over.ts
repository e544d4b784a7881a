// Starts the restored instance, alone: an archive of its own begins, and Patroni knows nothing of the former history any more. Each write can
// be repeated, and the instance starts only in a reconcile in which none was left to make.

import { stanzaAnnotation } from "../../../api/annotations.ts";
import { nextArchive } from "../../desired/archive-notes.ts";
import { closedAuthentication } from "../../desired/configuration.ts";
import { ordinalOf } from "../../desired/names.ts";
import { restores } from "../../kinds/sampledb-io.ts";
import { forgetHistory } from "../../patroni/state.ts";
import { beginArchive, presentArchive } from "../archive/new-archive.ts";
import { applyInstances } from "../instances/instances.ts";
import type { Findings, Scope } from "../scope.ts";
import { keepPatroniFile } from "../securing/mending.ts";
import { isRunning } from "../securing/securing.ts";

/** True where it has written something, and has to look again. */
export async function startRestored(scope: Scope, told: NonNullable<Findings["restore"]>): Promise<boolean> {
  const { observed, client, deps, key } = scope;
  const { podName = "", formerStanza = "", restoreName } = told;
  if (isRunning(scope)) return false;
  const { systemIdentifier } = deps.cache.watched(restores).get({ namespace: key.namespace, name: restoreName })?.status ?? {};
  const present = presentArchive(scope);
  if (present?.stanza === formerStanza) {
    const begun = { because: "Restored", at: deps.now().toISOString(), former: formerStanza } as const;
    await beginArchive(scope, present, nextArchive(present.notes, begun));
    return true;
  }
  if (await forgetHistory(client, observed.patroni, { systemIdentifier, primary: podName })) return true;
  if (await keepPatroniFile(scope)) return true;
  const { settings } = observed.patroni;
  // It runs without replicas, so no commit may wait for one. Applications are let in when everything is in its place.
  if (settings && !settings.letsIn(closedAuthentication, { alone: true })) {
    await settings.close(client, closedAuthentication, { alone: true });
    return true;
  }
  // A Pod of the repository that still serves the former archive would write the new history into it.
  if (observed.repository.pod?.metadata.annotations?.[stanzaAnnotation] === formerStanza) return true;
  await applyInstances(scope, { start: ordinalOf(podName), count: 1 });
  return false;
}

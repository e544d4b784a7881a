// The steps that go on while the data of a SampleDB is secured or restored: those that mend. A change of the spec reaches no instance
// meanwhile.
import { done } from "../../../runtime/controller/steps.ts";
import { patroniConfig } from "../../desired/configuration.ts";
import { configMaps } from "../../kinds/kubernetes.ts";
import { archiving } from "../archive/archiving.ts";
import { archiveConflict } from "../archive/conflict.ts";
import { repository } from "../archive/repository.ts";
import { hasOwnFile, letGoNow } from "../change/configuration.ts";
import { abandonedLock } from "../election/abandoned-lock.ts";
import { hangingOrder } from "../election/hanging-order.ts";
import { stalemate } from "../election/stalemate.ts";
import { writePath } from "../election/write-path.ts";
import { access, account } from "../foundation/access.ts";
import { credentials } from "../foundation/credentials.ts";
import { retention } from "../foundation/retention.ts";
import { services } from "../foundation/services.ts";
import { storage } from "../foundation/storage.ts";
import { podShortage } from "../instances/pod-shortage.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

/** The repository of a database that sleeps has no Pod. */
const awakeRepository: SampleDBStep = async (scope) =>
  await repository({ ...scope, db: { ...scope.db, spec: { ...scope.db.spec, powerState: "Running" } } });

const patroniFile: SampleDBStep = async (scope) => {
  await keepPatroniFile(scope);
  scope.findings.confirmed.add("configuration"); // the instances have run with it
  return done;
};

/**
 * Patroni's file goes with the SampleDB where that was deleted in the foreground, and a Pod can't start without it. It names the segments that
 * are let go, so it has to change before an instance starts that may write such names anew. True where it was written.
 */
export async function keepPatroniFile(scope: Scope): Promise<boolean> {
  const wanted = patroniConfig(scope.db, letGoNow(scope));
  if (hasOwnFile(scope, wanted)) return false;
  await scope.objects.apply(configMaps, wanted);
  return true;
}

export const mending: readonly SampleDBStep[] = [
  ...[abandonedLock, hangingOrder, stalemate, storage, retention],
  ...[credentials, account, services, archiveConflict, awakeRepository, writePath],
  ...[patroniFile, access, podShortage, archiving],
];

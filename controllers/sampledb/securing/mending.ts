// The steps that go on while the data of a SampleDB is secured or restored: those that mend. A change of the spec reaches no instance
// meanwhile.
import { done } from "../../../runtime/controller/steps.ts";
import { notesWanted } from "../../desired/archive-notes.ts";
import { patroniConfig } from "../../desired/configuration.ts";
import { namesOf } from "../../desired/names.ts";
import { configMaps } from "../../kinds/kubernetes.ts";
import { archiving } from "../archive/archiving.ts";
import { archiveConflict } from "../archive/conflict.ts";
import { repository } from "../archive/repository.ts";
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
import type { SampleDBStep } from "../scope.ts";

/** The repository of a database that sleeps has no Pod. */
const awakeRepository: SampleDBStep = async (scope) =>
  await repository({ ...scope, db: { ...scope.db, spec: { ...scope.db.spec, powerState: "Running" } } });

/** Patroni's file goes with the SampleDB where that was deleted in the foreground. A Pod can't start without it. */
const patroniFile: SampleDBStep = async ({ db, key, observed, objects, deps, findings }) => {
  const there = deps.cache.watched(configMaps).get({ namespace: key.namespace, name: namesOf(db).patroniConfig });
  if (!there) await objects.apply(configMaps, patroniConfig(db, notesWanted(observed.repository.config).letGo));
  findings.confirmed.add("configuration"); // the instances have run with it
  return done;
};

export const mending: readonly SampleDBStep[] = [
  ...[abandonedLock, hangingOrder, stalemate, storage, retention],
  ...[credentials, account, services, archiveConflict, awakeRepository, writePath],
  ...[patroniFile, access, podShortage, archiving],
];

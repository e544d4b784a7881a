// The repository: made where `spec.backup` asks for it, and taken away when nothing is archived any more. Its claim stays.
import { archiveOffAnnotation } from "../../../api/annotations.ts";
import { wanted } from "../../../runtime/controller/kept.ts";
import { done, doneUntil, type StepResult } from "../../../runtime/controller/steps.ts";
import { generationNow, notesWanted } from "../../desired/archive-notes.ts";
import { identityOf } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import {
  repositoryClaim,
  repositoryConfig,
  repositoryDeployment,
  repositoryOff,
  repositoryService,
  repositorySize,
} from "../../desired/repository.ts";
import { type Archived, hasVolume, isArchived } from "../../desired/store.ts";
import { configMaps, deployments, services } from "../../kinds/kubernetes.ts";
import { unsettledSeconds } from "../change/configuration.ts";
import { createClaim, growClaim, tryAgainSeconds } from "../foundation/storage.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { someArchive } from "./archive-mode.ts";
import { repositoryClients } from "./new-archive.ts";

export const repository: SampleDBStep = async (scope) => {
  const { db } = scope;
  return isArchived(db) ? await keep(scope, db) : await leave(scope);
};

async function keep(scope: Scope, db: Archived): Promise<StepResult> {
  const { client, choices, objects, observed, deps } = scope;
  const database = identityOf(db);
  if (!(await deps.authority.ensureRepository(database, client))) {
    throw new Error(
      `the key of the database's authority is lost (Secret ${deps.authority.keySecret(database).name}): the repository can get no certificate that the instances trust, until a new authority takes over`,
    );
  }
  const grown = hasVolume(db) ? await keepClaim(scope, db) : true;
  const made = {
    image: choices.ownImage,
    archive: notesWanted(observed.repository.config, db),
    // Nothing can be pushed without instances. The Pod of a sleeping database would only hold its volume.
    running: db.spec.powerState === "Running" || observed.instances.length > 0,
  };
  await objects.keep(db, "repository", JSON.stringify([choices.digest, made]), () => [
    // Onto the version whose notes were read: a view that is behind must not bring a former archive back.
    wanted(configMaps, repositoryConfig(db, made.archive, repositoryClients(db)), observed.repository.config?.metadata.resourceVersion),
    wanted(services, repositoryService(db)),
    wanted(deployments, repositoryDeployment(db, made)),
  ]);
  return grown ? done : doneUntil(tryAgainSeconds);
}

/** False where the claim can't grow now. */
async function keepClaim(scope: Scope, db: Archived): Promise<boolean> {
  const { claim } = scope.observed.repository;
  if (claim) return await growClaim(scope, claim, repositorySize(db));
  await createClaim(scope, repositoryClaim(db));
  return true;
}

/** Only when no instance archives any more. Instances report what waits for their restart some seconds after the settings were written. */
async function leave(scope: Scope): Promise<StepResult> {
  const { db, key, objects, observed, deps } = scope;
  const { config, deployment } = observed.repository;
  if (!config || config.metadata.annotations?.[archiveOffAnnotation] !== undefined || someArchive(observed)) return done;
  const unsettled = unsettledSeconds(observed.patroni.settings?.object, deps.now());
  if (unsettled > 0) return doneUntil(unsettled);
  const where = { namespace: key.namespace, name: namesOf(db).repository };
  if (deployment) await objects.remove(deployments, where, db);
  await objects.remove(services, where, db);
  // Last: this note ends the work, and the next archive will be another generation.
  await objects.apply(configMaps, repositoryOff(db, generationNow(config)), config.metadata.resourceVersion);
  return done;
}

// Begins an archive in place of the present one. The notes on the ConfigMap are all that it takes: the steps `repository` and
// `configuration` act on them, in the next reconcile or in another operator's.
import { certificateName } from "../../database/certificates.ts";
import { type ArchiveNotes, isOff, notesWanted, stanzaOf } from "../../desired/archive-notes.ts";
import { identityOf } from "../../desired/identity.ts";
import { type RepositoryClients, repositoryConfig } from "../../desired/repository.ts";
import { type Archived, isArchived } from "../../desired/store.ts";
import { type ConfigMap, configMaps } from "../../kinds/kubernetes.ts";
import type { Scope } from "../scope.ts";

export interface PresentArchive {
  readonly db: Archived;
  readonly config: ConfigMap;
  readonly notes: ArchiveNotes;
  readonly stanza: string;
}

/** Undefined where nothing is archived. */
export function presentArchive({ db, observed }: Pick<Scope, "db" | "observed">): PresentArchive | undefined {
  const { config } = observed.repository;
  if (!isArchived(db) || !config || isOff(config)) return undefined;
  const notes = notesWanted(config, db);
  return { db, config, notes, stanza: stanzaOf(db, notes) };
}

/** One write, and only onto the version that the decision was made from: with a cache that is behind, no archive begins twice. */
export async function beginArchive({ client }: Pick<Scope, "client">, { db, config }: PresentArchive, next: ArchiveNotes): Promise<void> {
  const wanted = repositoryConfig(db, next, repositoryClients(db));
  const { resourceVersion = "" } = config.metadata;
  await client.apply(configMaps, { ...wanted, metadata: { ...wanted.metadata, resourceVersion } });
}

export function repositoryClients(db: Archived): RepositoryClients {
  const database = identityOf(db);
  return { server: certificateName(database, "server"), operator: certificateName(database, "operator") };
}

// What ConfigMap NAME-repository notes about the archive: its generation, why it began, and which segments are let go. The ConfigMap outlives
// the SampleDB, and so do the notes.
import {
  archiveBegunAnnotation,
  archiveGenerationAnnotation,
  archiveLetGoAnnotation,
  archiveOffAnnotation,
  stanzaAnnotation,
} from "../../api/annotations.ts";
import { jsonAnnotation } from "../kinds/json-annotation.ts";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";

/** The files of the write-ahead log that a person has given up: those whose names do not come after `last`. */
export interface LetGo {
  /** Of the data that they belong to: a database that is made anew under the same name begins with small names again. */
  readonly systemIdentifier: string;
  /** The greatest name of a file that waited for the archive at the person's word. */
  readonly last: string;
}

/** A person gave the former one up, it had another content under a name, or the data was restored in place. */
const causes = ["Dropped", "Conflict", "Restored"] as const;

/** Why an archive began in place of another one. A full backup is due since then. */
export interface Begun {
  readonly because: (typeof causes)[number];
  readonly at: string;
  /** The stanza of the archive before it. */
  readonly former: string;
  /** What was written since then is in neither archive, as far as it is known. */
  readonly lostSince?: string;
}

export interface ArchiveNotes {
  readonly generation: number;
  readonly begun?: Begun | undefined;
  readonly letGo?: LetGo | undefined;
}

/** The notes of the archive that is wanted now, by the ConfigMap as it is: after archiving was off, of a new one. */
export function notesWanted(config: ConfigMap | undefined, db: Pick<SampleDB, "metadata">): ArchiveNotes {
  const generation = generationNow(config);
  if (!config || isOff(config)) return { generation: generation + 1 };
  return { generation: Math.max(1, generation), begun: begunOf(config), letGo: letGoOf(config, db) };
}

/** Whether archiving was switched off, or never on. */
export function isOff(config: ConfigMap | undefined): boolean {
  return config === undefined || config.metadata.annotations?.[archiveOffAnnotation] !== undefined;
}

export function generationNow(config: ConfigMap | undefined): number {
  return Number(config?.metadata.annotations?.[archiveGenerationAnnotation] ?? 0);
}

/**
 * The archive after this one. What is let go stays so: a later order has a greater name. Restored data may write smaller names again, on an
 * earlier timeline and under the same system identifier, and nobody has let those go.
 */
export function nextArchive({ generation, letGo }: ArchiveNotes, begun: Begun, dropped?: LetGo): ArchiveNotes {
  return { generation: generation + 1, begun, letGo: begun.because === "Restored" ? undefined : (dropped ?? letGo) };
}

/**
 * The folder of pgBackRest for one history of one database. A clone keeps the system identifier of its source, so the uid is in it. After a
 * gap, or where two histories have the same numbers, a new generation begins: what was archived before stays as it was.
 */
export function stanzaOf(
  { metadata, spec }: Pick<SampleDB, "metadata" | "spec">,
  { generation }: Pick<ArchiveNotes, "generation">,
): string {
  return `${metadata.uid}-${spec.postgresVersion}-${generation}`;
}

export function noteAnnotationsOf(db: SampleDB, notes: ArchiveNotes): Record<string, string> {
  const { generation, begun, letGo } = notes;
  return {
    [archiveGenerationAnnotation]: String(generation),
    [stanzaAnnotation]: stanzaOf(db, notes),
    ...(begun ? { [archiveBegunAnnotation]: JSON.stringify(begun) } : {}),
    ...(letGo ? { [archiveLetGoAnnotation]: `${letGo.systemIdentifier}/${letGo.last}` } : {}),
  };
}

function begunOf(config: ConfigMap): Begun | undefined {
  const { because, at, former, lostSince } = jsonAnnotation<Begun>(config, archiveBegunAnnotation);
  if (!because || !causes.includes(because) || typeof at !== "string" || typeof former !== "string") return undefined;
  return { because, at, former, ...(typeof lostSince === "string" ? { lostSince } : {}) };
}

/** Of this SampleDB's own archive alone: the data of an earlier one may be back as it was before the order. */
function letGoOf({ metadata: { annotations } }: ConfigMap, db: Pick<SampleDB, "metadata">): LetGo | undefined {
  if (!annotations?.[stanzaAnnotation]?.startsWith(`${db.metadata.uid}-`)) return undefined;
  const [systemIdentifier, last] = annotations[archiveLetGoAnnotation]?.split("/") ?? [];
  return systemIdentifier === undefined || last === undefined ? undefined : { systemIdentifier, last };
}

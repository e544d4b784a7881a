// Begins a new archive where the present one has another content under the name of a segment: two histories have the same numbers, and one
// archive can't hold both. The former archive stays as it is.
import { reasons } from "../../../api/reasons.ts";
import { after } from "../../../runtime/controller/result.ts";
import { done, waitFor } from "../../../runtime/controller/steps.ts";
import { nextArchive, stanzaOf } from "../../desired/archive-notes.ts";
import { identityOf } from "../../desired/identity.ts";
import type { RepositoryAnswer } from "../../repository/answers.ts";
import type { SampleDBStep } from "../scope.ts";
import { beginArchive, type PresentArchive, presentArchive } from "./new-archive.ts";

/** At most one new archive in this time: where two instances write one history, each archive gets its conflict. */
const leastSeconds = 600;
const goOnSeconds = 1;

export const archiveConflict: SampleDBStep = async (scope) => {
  const { db, deps } = scope;
  const present = presentArchive(scope);
  const conflict = present && newConflict(present, deps.reports.of(identityOf(db)).repository?.answer, deps.now());
  if (!conflict) return done;
  const { notes, stanza: former } = present;
  const next = nextArchive(notes, { because: "Conflict", at: deps.now().toISOString(), former });
  await beginArchive(scope, present, next);
  const note = `archive ${former} has another content under the name ${conflict.name}: archive ${stanzaOf(db, next)} begins, and a full backup is due`;
  deps.events.record(db, { type: "Warning", reason: reasons.archiveBegun, action: "BeginArchive", note });
  return waitFor("the notes of the new archive", after(goOnSeconds));
};

/** The conflict that a new archive has to begin for. One of a former archive is none: that archive has its successor. */
export function newConflict(
  { stanza, notes: { begun } }: Pick<PresentArchive, "stanza" | "notes">,
  answer: RepositoryAnswer | undefined,
  now: Date,
): { readonly name: string } | undefined {
  const failure = answer?.archive?.failure;
  if (answer?.stanza !== stanza || failure?.reason !== "ArchiveConflict") return undefined;
  return begun && now.getTime() - Date.parse(begun.at) < leastSeconds * 1000 ? undefined : failure;
}

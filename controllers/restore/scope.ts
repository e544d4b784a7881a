// The scope of one reconcile of a Restore: everything that it reads and uses, gathered once.
import type { Cache } from "../../runtime/cache/cache.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import type { Authority } from "../database/authority.ts";
import { backupsOf } from "../database/backups.ts";
import type { Passwords } from "../database/passwords.ts";
import { observeDatabase } from "../database/view.ts";
import { namesOf } from "../desired/names.ts";
import type { Images } from "../desired/own-image.ts";
import { type FoundJob, findJob, type JobContext } from "../jobs/runner.ts";
import { persistentVolumeClaims } from "../kinds/kubernetes.ts";
import { backups, type Restore, restores, type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import type { Patience } from "../patience.ts";
import type { Permits } from "../permits/permits.ts";
import type { BackgroundQuestions } from "../repository/background-questions.ts";
import type { ProgressQuestion, RunProgress } from "../repository/run-progress.ts";
import type { DescribedEvents } from "../telling/described-events.ts";
import type { Seen } from "./source.ts";

export interface Dependencies {
  readonly cache: Cache;
  readonly events: DescribedEvents;
  readonly authority: Authority;
  readonly passwords: Passwords;
  readonly images: Images;
  readonly patience: Patience;
  readonly permits: Permits;
  readonly progress: BackgroundQuestions<RunProgress>;
  readonly progressQuestion: ProgressQuestion;
  readonly now: () => Date;
}

export interface Scope extends Request, Seen {
  readonly restore: Restore;
  readonly deps: Dependencies;
  /** The SampleDB of the destination's name. */
  readonly destination: SampleDB | undefined;
  /** The names of data claims that are there for the destination's name. */
  readonly claims: readonly string[];
  /** Other Restores to the same name. */
  readonly rivals: readonly Restore[];
  readonly run: FoundJob | undefined;
}

export function openScope(restore: Restore, request: Request, deps: Dependencies): Scope {
  const { cache } = deps;
  const { namespace } = request.key;
  const { source, destination } = restore.spec;
  const key = (name: string) => ({ namespace, name });
  const named = { metadata: key(destination.sampleDBName) };
  const isRival = ({ metadata, spec }: Restore) =>
    metadata.namespace === namespace && metadata.uid !== restore.metadata.uid && spec.destination.sampleDBName === destination.sampleDBName;
  return {
    ...request,
    restore,
    deps,
    backup: source.backupName === undefined ? undefined : cache.watched(backups).get(key(source.backupName)),
    backups: source.sampleDBName === undefined ? [] : backupsOf(cache, key(source.sampleDBName)),
    claim: (name) => cache.watched(persistentVolumeClaims).get(key(name)),
    repositoryRuns: (name) => observeDatabase({ metadata: key(name) }, cache).repository.pod !== undefined,
    destination: cache.watched(sampledbs).get(named.metadata),
    claims: [...observeDatabase(named, cache).claims.keys()],
    rivals: cache.watched(restores).list().filter(isRival),
    run: findJob(cache, restore, key(namesOf(named).restore)),
  };
}

export function jobContext({ deps, objects }: Scope): JobContext {
  return { cache: deps.cache, objects, patience: deps.patience, now: deps.now() };
}

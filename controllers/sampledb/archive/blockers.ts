// What a person can do about a repository that can't be used, and about segments that do not reach it. Pure functions.
import { dropAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import type { Blocker } from "../../telling/blockers.ts";
import type { Verdict } from "../../telling/checks.ts";
import { describePod, type Hindrance } from "./hindrance.ts";

/** The faults that last until a person acts. A store that is away for a moment is none of them. */
export function repositoryBlocker({ status, reason, message }: Verdict, hindrance: Hindrance | undefined): Blocker | undefined {
  if (status !== "False") return undefined;
  switch (reason) {
    case reasons.repositorySilent:
      return { reason, message, remedy: hindrance?.remedy ?? describePod };
    case reasons.credentialsMissing:
      return { reason, message, remedy: "make the Secret that spec.backup names, with the key that the message names" };
    case reasons.storeDenied:
      return { reason, message, remedy: "correct the keys in the Secret, or the policy of the bucket (docs/backups.md)" };
    case reasons.bucketMissing:
      return { reason, message, remedy: "make the bucket, or correct its name: remove spec.backup and set it up anew" };
    case reasons.wrongRegion:
      return { reason, message, remedy: "correct spec.backup.repository.s3.region" };
    case reasons.storeUntrusted:
      return { reason, message, remedy: "name a Secret with the store's authority in spec.backup.repository.s3.caSecretName" };
    case reasons.repositoryFull:
      return { reason, message, remedy: "let spec.backup.repository.volume.size grow, or make room in the store" };
    case reasons.wrongPassphrase:
      return { reason, message, remedy: "put the former passphrase back into the Secret; or remove spec.backup and set it up anew" };
    default:
      return undefined;
  }
}

export function archivingBlocker({ status, reason, message }: Verdict, stanza: string | undefined): Blocker | undefined {
  if (status !== "False") return undefined;
  const drop =
    stanza === undefined ? "" : `; if the store is gone for good, ${dropAnnotation}=${stanza} lets go what waits (docs/backups.md)`;
  if (reason === reasons.archiveFillsDisk)
    return { reason, message, remedy: `let spec.storage.size grow now, then mend the repository${drop}` };
  if (reason === reasons.archiveConflict)
    return { reason, message, remedy: "none is needed: a new archive begins by itself, ten minutes after the last one at the earliest" };
  if (reason === reasons.archivingFails)
    return {
      reason,
      message,
      remedy: `mend the repository (condition RepositoryReachable); if that takes long, let spec.storage.size grow${drop}`,
    };
  return undefined;
}

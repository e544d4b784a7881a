// Failures of the store, as the programs name them: the repository in `/status`, and Jobs in their last words. And what a condition says then.
import { reasons } from "../../api/reasons.ts";

export const storeFailures = {
  CredentialsMissing: reasons.credentialsMissing,
  StoreDenied: reasons.storeDenied,
  BucketMissing: reasons.bucketMissing,
  WrongRegion: reasons.wrongRegion,
  StoreUntrusted: reasons.storeUntrusted,
  StoreUnreachable: reasons.storeUnreachable,
  RepositoryFull: reasons.repositoryFull,
  WrongPassphrase: reasons.wrongPassphrase,
  StoreFailed: reasons.storeFailed,
} as const;

/** Undefined where the text is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

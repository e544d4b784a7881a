// Failures of the store, as the programs of Jobs name them in their last words, and what a condition says then.
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

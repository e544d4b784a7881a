// A certificate made at the start, for a server without a configured one.
import { type CertifiedKey, createAuthority, issueCertificate } from "../certificates/issue.ts";

/**
 * Encrypts, but proves no identity: the key of its authority is discarded at once. Clients can't verify it, so its expiry only
 * has to be later than the end of the process.
 */
export async function selfMadeCertificate(): Promise<CertifiedKey> {
  const years = 10 * 365 * 24 * 3_600_000;
  const now = new Date();
  const authority = await createAuthority({ commonName: "self-made", lifetimeMs: years, now });
  const names = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  return await issueCertificate(authority, { commonName: "localhost", ...names, usages: ["server"], lifetimeMs: years, now });
}

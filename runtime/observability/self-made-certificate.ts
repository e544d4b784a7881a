// A certificate made on the spot, for a server that nobody has given one.
import { type CertifiedKey, createAuthority, issueCertificate } from "../certificates/issue.ts";

/**
 * Encrypts, and proves nothing: nobody knows its authority, whose key is forgotten at once. Clients have to do without
 * verification, so its end means nothing either; it must only not come while the process lives.
 */
export async function selfMadeCertificate(): Promise<CertifiedKey> {
  const years = 10 * 365 * 24 * 3_600_000;
  const now = new Date();
  const authority = await createAuthority({ commonName: "self-made", lifetimeMs: years, now });
  const names = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  return await issueCertificate(authority, { commonName: "localhost", ...names, usages: ["server"], lifetimeMs: years, now });
}

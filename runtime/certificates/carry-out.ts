// Carries out a plan of rotation: makes the authorities and leaves that it asks for.
import { isIP } from "node:net";
import { type CertifiedKey, createAuthority, issueCertificate, type LeafOptions } from "./issue.ts";
import { type Kept, type Plan, signingAuthority, validAuthorities } from "./rotation.ts";

export interface Making {
  /** The common name of authorities. */
  readonly authorityName: string;
  /** The common name of leaves. */
  readonly leafName: string;
  /** DNS names and addresses of the leaf. */
  readonly names: readonly string[];
  readonly usages: LeafOptions["usages"];
  readonly authorityLifetimeMs: number;
  readonly leafLifetimeMs: number;
  readonly now: Date;
}

/** Returns the material to store from now on. */
export async function carryOut({ action }: Plan, kept: Kept, making: Making): Promise<Kept> {
  const { now } = making;
  const trusted = validAuthorities(kept.bundle, now).map(String);
  const newest: CertifiedKey = { certificate: trusted[0] ?? "", key: kept.authorityKey };
  const signer = signingAuthority(kept, now);
  switch (action) {
    case "nothing":
      return kept;
    case "first time":
    case "make anew": {
      const authority = await makeAuthority(making);
      const leaf = await issueLeaf(authority, making);
      return { bundle: authority.certificate, authorityKey: authority.key, formerKey: "", trustedSince: "", ...leaf };
    }
    case "add authority": {
      const authority = await makeAuthority(making);
      // Some servers read the bundle again only when they see another leaf beside it.
      const leaf = signer && (await issueLeaf(signer, making));
      const bundle = authority.certificate + trusted.join("");
      return { ...kept, bundle, authorityKey: authority.key, formerKey: signer?.key ?? "", trustedSince: "", ...leaf };
    }
    case "note trust":
      return { ...kept, trustedSince: now.toISOString() };
    case "new leaf":
      return { ...kept, ...(await issueLeaf(signer ?? newest, making)) };
    case "take over":
      return { ...kept, formerKey: "", ...(await issueLeaf(newest, making)) };
    case "drop authorities":
      return { ...kept, bundle: trusted.join("") };
  }
}

async function makeAuthority({ authorityName: commonName, authorityLifetimeMs: lifetimeMs, now }: Making): Promise<CertifiedKey> {
  return await createAuthority({ commonName, lifetimeMs, now });
}

async function issueLeaf(authority: CertifiedKey, making: Making): Promise<CertifiedKey> {
  const { leafName: commonName, names, usages, leafLifetimeMs: lifetimeMs, now } = making;
  return await issueCertificate(authority, {
    commonName,
    dnsNames: names.filter((name) => isIP(name) === 0),
    ipAddresses: names.filter((name) => isIP(name) !== 0),
    usages,
    lifetimeMs,
    now,
  });
}

// Makes what a plan of rotation asks for.
import { isIP } from "node:net";
import { type CertifiedKey, createAuthority, issueCertificate } from "../certificates/issue.ts";
import { type Kept, type Plan, validAuthorities } from "./rotation.ts";

export interface Making {
  /** The common name of authorities and leaves, for people who look at them. */
  readonly commonName: string;
  /** DNS names and addresses by which the API server calls us. */
  readonly names: readonly string[];
  readonly authorityLifetimeMs: number;
  readonly leafLifetimeMs: number;
  readonly now: Date;
}

/** What is to be kept from now on. */
export async function carryOut({ action }: Plan, kept: Kept, making: Making): Promise<Kept> {
  const { commonName, now, authorityLifetimeMs: lifetimeMs } = making;
  const trusted = validAuthorities(kept.bundle, now).map(String);
  switch (action) {
    case "nothing":
      return kept;
    case "first time":
    case "make anew": {
      const authority = await createAuthority({ commonName, lifetimeMs, now });
      return { bundle: authority.certificate, authorityKey: authority.key, trustedSince: "", ...(await issueLeaf(authority, making)) };
    }
    case "add authority": {
      const authority = await createAuthority({ commonName, lifetimeMs, now });
      return { ...kept, bundle: authority.certificate + trusted.join(""), authorityKey: authority.key, trustedSince: "" };
    }
    case "note trust":
      return { ...kept, trustedSince: now.toISOString() };
    case "new leaf":
    case "take over": {
      const [newest = ""] = trusted;
      return { ...kept, ...(await issueLeaf({ certificate: newest, key: kept.authorityKey }, making)) };
    }
    case "drop authorities":
      return { ...kept, bundle: trusted.join("") };
  }
}

async function issueLeaf(authority: CertifiedKey, { commonName, names, leafLifetimeMs, now }: Making): Promise<CertifiedKey> {
  return await issueCertificate(authority, {
    commonName,
    dnsNames: names.filter((name) => isIP(name) === 0),
    ipAddresses: names.filter((name) => isIP(name) !== 0),
    usages: ["server"],
    lifetimeMs: leafLifetimeMs,
    now,
  });
}

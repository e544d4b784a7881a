// What has to be done next with an authority of our own and the certificate that is served under it: a pure decision over
// what is kept, what those who connect trust, and the time.
import type { X509Certificate } from "node:crypto";
import { fits, isIssuedBy, isValidAt, readCertificate, servesAs, splitBundle } from "./inspect.ts";
import type { CertifiedKey } from "./issue.ts";

/** What is kept from one rotation to the next, all PEM; empty where there is nothing. */
export interface Kept {
  /** All authorities that are trusted, the newest first. */
  readonly bundle: string;
  /** The newest authority's. */
  readonly authorityKey: string;
  /** That of the authority which signs until the newest takes over; empty when none but the newest signs. */
  readonly formerKey: string;
  /** When the newest authority was first seen to be trusted by all; empty before, and while it is the only one there ever was. */
  readonly trustedSince: string;
  readonly certificate: string;
  readonly key: string;
}

export interface Situation {
  readonly kept: Kept;
  /** What each of those who connect trusts, as it was seen; empty for one that trusts nothing or was not to be seen. */
  readonly trusted: readonly string[];
  /** DNS names and addresses that the leaf is served under. */
  readonly names: readonly string[];
  /** How long all must have trusted a new authority before anything is signed by it: what was seen may be ahead of what is in force. */
  readonly settleMs: number;
  readonly now: Date;
}

export type Plan =
  | { readonly action: "nothing" }
  /** An authority and a leaf; nothing was there. */
  | { readonly action: "first time"; readonly reason: string }
  /** An authority and a leaf; nothing of what is there can be used. */
  | { readonly action: "make anew"; readonly reason: string }
  /** Another leaf in place of the one that is served, of the same authority if that can sign. */
  | { readonly action: "new leaf"; readonly reason: string }
  /** A new authority in front of the others, which goes on signing: a new leaf at once. */
  | { readonly action: "add authority"; readonly reason: string }
  /** The newest authority is trusted everywhere: remember since when. */
  | { readonly action: "note trust"; readonly reason: string }
  /** The first leaf of an authority that is trusted everywhere for long enough. */
  | { readonly action: "take over"; readonly reason: string }
  | { readonly action: "drop authorities"; readonly reason: string };

/** Where nothing that is trusted can sign any more, a new authority is not kept waiting for longer than this. */
const longestSettleWithoutSignerMs = 3_600_000;

/**
 * Guarantees, as long as it is carried out and the bundle is published each time: a leaf that is served has been signed by
 * an authority which all trust, and which they go on trusting for as long as that leaf is valid, so that a replica that has
 * not heard of a newer leaf does no harm. What can't be helped breaks it: a leaf that is lost or has expired is replaced at
 * once, trusted or not, because nothing better can be served.
 */
export function planRotation({ kept, trusted, names, settleMs, now }: Situation): Plan {
  if (Object.values(kept).every((text) => text === "")) return { action: "first time", reason: "there are no certificates yet" };

  const authorities = validAuthorities(kept.bundle, now);
  const [newest] = authorities;
  const signs = newest !== undefined && fits(newest.toString(), kept.authorityKey);
  const leaf = examineLeaf(kept, authorities, names, now);
  if (!signs) {
    const reason = newest === undefined ? "ca.crt holds no authority that is valid" : "ca.key does not fit the first authority of ca.crt";
    return leaf.usable ? { action: "add authority", reason } : { action: "make anew", reason: `${reason}, and ${leaf.reason}` };
  }

  if (!leaf.usable) return { action: "new leaf", reason: leaf.reason };
  const renewable = canRenew(leaf.certificate, kept, now);
  if (renewable && isDue(leaf.certificate, now)) return { action: "new leaf", reason: `it expires at ${expiry(leaf.certificate)}` };
  if (!isIssuedBy(leaf.certificate, newest) && isTrustedBy(trusted, newest)) {
    const since = Date.parse(kept.trustedSince);
    const settled = since + (renewable ? settleMs : Math.min(settleMs, longestSettleWithoutSignerMs));
    if (Number.isNaN(since)) return { action: "note trust", reason: "all trust the new authority" };
    if (now.getTime() >= settled) return { action: "take over", reason: `all trust it since ${kept.trustedSince}` };
  }
  if (isDue(newest, now)) return { action: "add authority", reason: `the one in use expires at ${expiry(newest)}` };
  if (authorities.length < splitBundle(kept.bundle).length) {
    return { action: "drop authorities", reason: "some have expired or can't be read" };
  }
  return { action: "nothing" };
}

/**
 * Who signs now: the authority of the leaf that is served, which all trust, or without a leaf the former one. Undefined when
 * its key is gone, or it has expired.
 */
export function signingAuthority(kept: Kept, now: Date): CertifiedKey | undefined {
  const authorities = validAuthorities(kept.bundle, now);
  const leaf = readCertificate(kept.certificate);
  const issuer =
    authorities.find((authority) => leaf !== undefined && isIssuedBy(leaf, authority)) ??
    authorities.find((authority) => fits(authority.toString(), kept.formerKey));
  if (issuer === undefined) return undefined;
  const certificate = issuer.toString();
  const key = [kept.authorityKey, kept.formerKey].find((key) => fits(certificate, key));
  return key === undefined ? undefined : { certificate, key };
}

/** The authorities that may still be trusted, the newest first. */
export function validAuthorities(bundle: string, now: Date): X509Certificate[] {
  return splitBundle(bundle)
    .map(readCertificate)
    .filter((certificate) => certificate !== undefined)
    .filter((certificate) => certificate.ca && isValidAt(certificate, now));
}

type Leaf = { readonly usable: true; readonly certificate: X509Certificate } | { readonly usable: false; readonly reason: string };

function examineLeaf(kept: Kept, authorities: readonly X509Certificate[], names: readonly string[], now: Date): Leaf {
  const certificate = readCertificate(kept.certificate);
  if (certificate === undefined) return unusable("tls.crt can't be read");
  if (!fits(kept.certificate, kept.key)) return unusable("tls.key does not fit tls.crt");
  if (!isValidAt(certificate, now))
    return unusable(`tls.crt is valid from ${certificate.validFromDate.toISOString()} to ${expiry(certificate)}`);
  if (!authorities.some((authority) => isIssuedBy(certificate, authority)))
    return unusable("tls.crt is of none of the authorities in ca.crt");
  const missing = names.filter((name) => !servesAs(certificate, name));
  if (missing.length > 0) return unusable(`tls.crt is not for ${missing.join(", ")}`);
  return { usable: true, certificate };
}

function unusable(reason: string): Leaf {
  return { usable: false, reason };
}

/** Another leaf of the same authority would live longer. One that ends with its authority would be due again at once, for ever. */
function canRenew(leaf: X509Certificate, kept: Kept, now: Date): boolean {
  const signer = readCertificate(signingAuthority(kept, now)?.certificate ?? "");
  return signer !== undefined && signer.validToDate > leaf.validToDate;
}

/** A third of its life is left: weeks in which to try again, or for a person to notice. */
export function isDue({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  const life = validToDate.getTime() - validFromDate.getTime();
  return validToDate.getTime() - now.getTime() < life / 3;
}

function isTrustedBy(trusted: readonly string[], authority: X509Certificate): boolean {
  return trusted.every((bundle) => splitBundle(bundle).some((pem) => readCertificate(pem)?.fingerprint256 === authority.fingerprint256));
}

function expiry({ validToDate }: X509Certificate): string {
  return validToDate.toISOString();
}

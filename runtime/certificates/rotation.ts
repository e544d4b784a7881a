// Decides the next step in rotating an authority of our own and its leaf: a pure function of the stored material, of what the
// clients trust, and of the time.
import type { X509Certificate } from "node:crypto";
import { fits, isIssuedBy, isValidAt, readCertificate, servesAs, splitBundle } from "./inspect.ts";
import type { CertifiedKey } from "./issue.ts";

/** The material that is stored between rotations, all PEM; empty where there is none. */
export interface Kept {
  /** All trusted authorities, the newest first. */
  readonly bundle: string;
  /** Key of the newest authority. */
  readonly authorityKey: string;
  /** Key of the authority that signs until the newest takes over; empty when only the newest signs. */
  readonly formerKey: string;
  /** When all clients were first seen to trust the newest authority; empty before that, and for the very first authority. */
  readonly trustedSince: string;
  readonly certificate: string;
  readonly key: string;
}

export interface Situation {
  readonly kept: Kept;
  /** The bundle that each client was seen to trust; empty for a client that trusts nothing or could not be read. */
  readonly trusted: readonly string[];
  /** DNS names and addresses of the leaf. */
  readonly names: readonly string[];
  /** How long all clients must have trusted a new authority before it signs: a bundle may be visible before it is in force. */
  readonly settleMs: number;
  readonly now: Date;
}

export type Plan =
  | { readonly action: "nothing" }
  /** Make an authority and a leaf: nothing is stored. */
  | { readonly action: "first time"; readonly reason: string }
  /** Make an authority and a leaf: nothing that is stored is usable. */
  | { readonly action: "make anew"; readonly reason: string }
  /** Replace the leaf, by the same authority if that can sign. */
  | { readonly action: "new leaf"; readonly reason: string }
  /** Add a new authority in front of the others. The former one goes on signing, and issues a new leaf at once. */
  | { readonly action: "add authority"; readonly reason: string }
  /** All clients trust the newest authority: record since when. */
  | { readonly action: "note trust"; readonly reason: string }
  /** Issue the first leaf of an authority that all clients have trusted for long enough. */
  | { readonly action: "take over"; readonly reason: string }
  | { readonly action: "drop authorities"; readonly reason: string };

/** Upper bound of the settle time when no trusted authority can sign any more. */
const longestSettleWithoutSignerMs = 3_600_000;

/**
 * Guarantees, if each plan is carried out and the bundle is published each time: the authority of a served leaf is trusted by all
 * clients, and stays trusted for as long as the leaf is valid. So a replica that still serves an older leaf does no harm.
 *
 * Caveat: a leaf that is lost or has expired is replaced at once, trusted or not, because nothing better can be served.
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
 * The authority that signs now: that of the served leaf, which all clients trust; without a leaf, the former one. Undefined when
 * its key is lost or it has expired.
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

/** The authorities that are still valid, the newest first. */
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

/** Whether another leaf of the same authority would live longer. If both end together, a new leaf would be due again at once, for ever. */
function canRenew(leaf: X509Certificate, kept: Kept, now: Date): boolean {
  const signer = readCertificate(signingAuthority(kept, now)?.certificate ?? "");
  return signer !== undefined && signer.validToDate > leaf.validToDate;
}

/** Whether less than a third of its life is left: weeks in which to retry, or for a person to notice. */
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

// Makes authorities and the certificates that they sign: ECDSA on P-256, all in PEM.
import "reflect-metadata"; // @peculiar/x509 requires it to be loaded first
import { createPrivateKey, type webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { fits } from "./inspect.ts";

/** A certificate and its key, both PEM. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly key: string;
}

export interface AuthorityOptions {
  readonly commonName: string;
  readonly lifetimeMs: number;
  readonly now: Date;
}

export interface LeafOptions {
  readonly commonName: string;
  readonly organization?: string;
  /** Names of a server; wildcards as `*.example.svc`. */
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usages: readonly ("server" | "client")[];
  readonly lifetimeMs: number;
  readonly now: Date;
}

/** Certificates are valid from this long before they are made: a peer's clock may be behind ours. */
const backdateMs = 3_600_000;

const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256" };
const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" };
const extendedUsage = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth };

/** A self-signed authority that may sign leaves, but no further authorities. */
export async function createAuthority({ commonName, lifetimeMs, now }: AuthorityOptions): Promise<CertifiedKey> {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: subject(commonName),
    notBefore: new Date(now.getTime() - backdateMs),
    notAfter: new Date(now.getTime() + lifetimeMs),
    keys,
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return await inPem(certificate, keys);
}

/** A new key and its certificate, which never outlives the authority. Rejects when the authority can't sign at `now`. */
export async function issueCertificate(authority: CertifiedKey, options: LeafOptions): Promise<CertifiedKey> {
  const { commonName, organization, dnsNames = [], ipAddresses = [], usages, lifetimeMs, now } = options;
  const issuer = new x509.X509Certificate(authority.certificate);
  if (!fits(authority.certificate, authority.key))
    throw new Error(`the key of the authority ${issuer.subject} does not fit its certificate`);
  if (issuer.notAfter <= now) throw new Error(`the authority ${issuer.subject} has expired at ${issuer.notAfter.toISOString()}`);
  const keys = await generateKeys();
  const names = [
    ...dnsNames.map((value) => ({ type: "dns" as const, value })),
    ...ipAddresses.map((value) => ({ type: "ip" as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subject(commonName, organization),
    issuer: issuer.subjectName,
    notBefore: new Date(now.getTime() - backdateMs),
    notAfter: new Date(Math.min(now.getTime() + lifetimeMs, issuer.notAfter.getTime())),
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages.map((usage) => extendedUsage[usage])),
      await x509.AuthorityKeyIdentifierExtension.create(await issuer.publicKey.export()),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return await inPem(certificate, keys);
}

/** The longest common name that X.509 allows. Some programs refuse a longer one, and only when they meet it. */
const longestCommonName = 64;

function subject(commonName: string, organization?: string): x509.JsonName {
  if (commonName.length > longestCommonName)
    throw new RangeError(`"${commonName}" is too long for a common name: ${longestCommonName} at most`);
  return [...(organization === undefined ? [] : [{ O: [organization] }]), { CN: [commonName] }];
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await crypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
}

/** Reads any PEM form of a P-256 key; rejects for other types of key. */
async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: "pkcs8", format: "der" });
  return await crypto.subtle.importKey("pkcs8", new Uint8Array(der), keyAlgorithm, false, ["sign"]);
}

async function inPem(certificate: x509.X509Certificate, { privateKey }: webcrypto.CryptoKeyPair): Promise<CertifiedKey> {
  const key = await crypto.subtle.exportKey("pkcs8", privateKey);
  return { certificate: `${certificate.toString("pem")}\n`, key: `${x509.PemConverter.encode(key, "PRIVATE KEY")}\n` };
}

// The certificates of a cluster: one authority for the API, one for aggregated API servers, and a key pair for each
// program, with the names by which Kubernetes' own RBAC knows them.
import "reflect-metadata"; // @peculiar/x509 needs it before its own first line
import { generateKeyPairSync, type webcrypto } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";

const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256" };
const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" };
const lifetimeDays = 365;

export interface Identity {
  readonly commonName: string;
  readonly organization?: string;
  /** Names and addresses that a server answers to; absent for a client. */
  readonly servesAs?: readonly string[];
}

interface Authority {
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** Writes `ca`, `front-proxy-ca`, `service-account` and a `.crt` and `.key` for each identity into the directory. */
export async function writeCertificates(directory: string, identities: Readonly<Record<string, Identity>>): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const authority = await writeAuthority(directory, "ca", "kubernetes");
  const frontProxy = await writeAuthority(directory, "front-proxy-ca", "front-proxy");
  await writeLeaf(directory, "front-proxy-client", { commonName: "front-proxy-client" }, frontProxy);
  for (const [name, identity] of Object.entries(identities)) await writeLeaf(directory, name, identity, authority);
  writeServiceAccountKeys(directory);
}

async function writeAuthority(directory: string, name: string, commonName: string): Promise<Authority> {
  const keys = await crypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    ...validity(),
    keys,
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  await writePair(directory, name, certificate, keys);
  return { certificate, keys };
}

async function writeLeaf(directory: string, name: string, identity: Identity, authority: Authority): Promise<void> {
  const keys = await crypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
  const serverNames = (identity.servesAs ?? []).map((value) => ({
    type: /^[\d.]+$/.test(value) ? ("ip" as const) : ("dns" as const),
    value,
  }));
  const usages = [x509.ExtendedKeyUsage.clientAuth, ...(serverNames.length > 0 ? [x509.ExtendedKeyUsage.serverAuth] : [])];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [...(identity.organization ? [{ O: [identity.organization] }] : []), { CN: [identity.commonName] }],
    issuer: authority.certificate.subject,
    ...validity(),
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      await x509.AuthorityKeyIdentifierExtension.create(authority.keys.publicKey),
      ...(serverNames.length > 0 ? [new x509.SubjectAlternativeNameExtension(serverNames)] : []),
    ],
  });
  await writePair(directory, name, certificate, keys);
}

function validity() {
  const hour = 3_600_000;
  return { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + lifetimeDays * 24 * hour) };
}

async function writePair(directory: string, name: string, certificate: x509.X509Certificate, keys: webcrypto.CryptoKeyPair): Promise<void> {
  const privateKey = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  writeFileSync(join(directory, `${name}.crt`), certificate.toString("pem"));
  writeFileSync(join(directory, `${name}.key`), x509.PemConverter.encode(privateKey, "PRIVATE KEY"), { mode: 0o600 });
}

/** The pair that signs and checks the tokens of ServiceAccounts. */
function writeServiceAccountKeys(directory: string): void {
  const { privateKey, publicKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  writeFileSync(join(directory, "service-account.key"), privateKey, { mode: 0o600 });
  writeFileSync(join(directory, "service-account.pub"), publicKey);
}

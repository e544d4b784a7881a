// Reads certificates: their content, and which belong together.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";

export interface Description {
  /** `CN=…`, one attribute a line. */
  readonly subject: string;
  readonly commonName: string | undefined;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly dnsNames: readonly string[];
  /** IPv6 in OpenSSL's form, without `::`. */
  readonly ipAddresses: readonly string[];
  readonly isAuthority: boolean;
  /** SHA-256 of the whole certificate. */
  readonly fingerprint: string;
}

/** Describes the first certificate in the PEM text. Throws when there is none. */
export function describeCertificate(pem: string): Description {
  const certificate = new X509Certificate(pem);
  const { subject, issuer, validFromDate, validToDate, ca, fingerprint256 } = certificate;
  const names = alternativeNames(certificate.subjectAltName ?? "");
  return {
    subject,
    commonName: /^CN=(.*)$/m.exec(subject)?.[1],
    issuer,
    notBefore: validFromDate,
    notAfter: validToDate,
    dnsNames: names.filter(({ type }) => type === "DNS").map(({ value }) => value),
    ipAddresses: names.filter(({ type }) => type === "IP Address").map(({ value }) => value),
    isAuthority: ca,
    fingerprint: fingerprint256,
  };
}

/** The certificates in a PEM text, in order, each as PEM. Text between them is dropped. */
export function splitBundle(pem: string): string[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)].map(([block]) => `${block}\n`);
}

/** Undefined when the text is no certificate. */
export function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Whether the key belongs to the certificate; false also when either is unreadable. */
export function fits(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Whether the authority has signed it, checked by the signature and not only by the name. */
export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

export function isValidAt({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  return validFromDate <= now && now < validToDate;
}

/** Whether a client that connects to this name or address accepts the certificate. */
export function servesAs(certificate: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return certificate.checkIP(name) !== undefined;
  return certificate.checkHost(name, { subject: "never" }) !== undefined; // Go considers only the alternative names
}

/** Node writes `DNS:a.example, IP Address:127.0.0.1`, and a value with a comma in it as a JSON string. */
function alternativeNames(text: string): { type: string; value: string }[] {
  return [...text.matchAll(/([\w ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)].map(([, type = "", value = ""]) => ({
    type,
    value: value.startsWith('"') ? (JSON.parse(value) as string) : value,
  }));
}

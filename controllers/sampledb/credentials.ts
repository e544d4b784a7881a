// Passwords and certificates of a SampleDB. Secrets are read by name and never watched, so what was seen is remembered for a while.
import { X509Certificate } from "node:crypto";
import { BoundedMap } from "../../runtime/bounded-map.ts";
import { type CertifiedKey, createAuthority, issueCertificate } from "../../runtime/certificates/issue.ts";
import { Occupied } from "../../runtime/controller/objects.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { AlreadyExists } from "../../runtime/kube/errors.ts";
import { type Key, keyOf, keyText } from "../../runtime/kube/object.ts";
import { authorityName, authoritySecret, certificateNames, certificateSecret } from "../desired/certificates.ts";
import { applicationSecret, replicationSecret, superuserSecret } from "../desired/credentials.ts";
import { labelNames, managedBy } from "../desired/identity.ts";
import { namesOf } from "../desired/names.ts";
import { type Secret, secrets } from "../kinds.ts";
import type { SampleDB } from "../resources.ts";

export interface CredentialsOptions {
  /** Where authorities are kept: whoever reads Secrets beside a database can't sign for it. */
  readonly operatorNamespace: string;
  readonly now: () => Date;
  readonly password: () => string;
}

/** How long what was seen is taken for granted. Pods that run have what they need; this is for those to come. */
const rememberMilliseconds = 6 * 3_600_000;
const day = 86_400_000;
const authorityLifetimeMs = 3650 * day;
const certificateLifetimeMs = 365 * day;
/** Renewed with so much of it left: a third. */
const renewMs = certificateLifetimeMs / 3;
const clientLifetimeMs = day;

interface Seen {
  readonly until: number;
  readonly expires: Date;
}

/** What the operator shows to an instance, and what it expects of it. */
export interface OperatorIdentity extends CertifiedKey {
  readonly authority: string;
}

export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #seen = new BoundedMap<Seen>(10_000);

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /** Makes what is missing, and renews what is due; costs no request when it was looked at not long ago. Tells when the certificate ends. */
  async ensure(db: SampleDB, client: KubeClient): Promise<Date> {
    const { now } = this.#options;
    const id = db.metadata.uid ?? "";
    const seen = this.#seen.get(id);
    if (seen && seen.until > now().getTime()) return seen.expires;
    await this.#passwords(db, client);
    const expires = await this.#certificate(db, client);
    this.#seen.set(id, { until: Math.min(now().getTime() + rememberMilliseconds, expires.getTime() - renewMs), expires });
    return expires;
  }

  /** Looks again at the next occasion. */
  forget(db: SampleDB): void {
    this.#seen.delete(db.metadata.uid ?? "");
  }

  /** A short-lived certificate for calls to instances; never written down. */
  async operatorIdentity(db: SampleDB, client: KubeClient): Promise<OperatorIdentity> {
    const authority = await this.#authority(db, client);
    const commonName = "sampledb-operator";
    const issued = await issueCertificate(authority, {
      commonName,
      usages: ["client"],
      lifetimeMs: clientLifetimeMs,
      now: this.#options.now(),
    });
    return { ...issued, authority: authority.certificate };
  }

  /** Of the authority; for when the database is gone for good. */
  authorityKey(db: SampleDB): Key {
    return { namespace: this.#options.operatorNamespace, name: authorityName(db) };
  }

  async #passwords(db: SampleDB, client: KubeClient): Promise<void> {
    const { password } = this.#options;
    await createOnce(client, superuserSecret(db, password()), db);
    await createOnce(client, replicationSecret(db, password()), db);
    const bound = await createOnce(client, applicationSecret(db, password()), db);
    // One that was kept from before may lead to another database; the password stays what applications have.
    const wanted = applicationSecret(db, atob(bound.data?.["password"] ?? ""));
    if (Object.entries(wanted.data ?? {}).some(([key, value]) => bound.data?.[key] !== value)) await client.apply(secrets, wanted);
  }

  async #certificate(db: SampleDB, client: KubeClient): Promise<Date> {
    const { now } = this.#options;
    const { namespace = "" } = db.metadata;
    const existing = await client.find(secrets, { namespace, name: namesOf(db).certificateSecret });
    if (existing) refuseForeign(existing, db);
    const authority = await this.#authority(db, client);
    const expires = existing && expiry(existing, authority.certificate);
    if (expires && expires.getTime() - renewMs > now().getTime()) return expires;
    const issued = await issueCertificate(authority, {
      ...certificateNames(db),
      usages: ["server", "client"],
      lifetimeMs: certificateLifetimeMs,
      now: now(),
    });
    await client.apply(secrets, certificateSecret(db, issued, authority.certificate));
    return new Date(new X509Certificate(issued.certificate).validTo);
  }

  async #authority(db: SampleDB, client: KubeClient): Promise<CertifiedKey> {
    const { now } = this.#options;
    const key = this.authorityKey(db);
    const existing = await client.find(secrets, key);
    if (existing) return certifiedKey(existing);
    const made = await createAuthority({
      commonName: `authority of ${certificateNames(db).commonName}`.slice(0, 64),
      lifetimeMs: authorityLifetimeMs,
      now: now(),
    });
    return certifiedKey(await createOnce(client, authoritySecret(db, key.namespace, made), db));
  }
}

/** The one that is there, or the one that is given: never overwritten. */
async function createOnce(client: KubeClient, secret: Secret, db: SampleDB): Promise<Secret> {
  const existing = await client.find(secrets, keyOf(secret));
  if (existing) {
    refuseForeign(existing, db);
    return existing;
  }
  try {
    return await client.create(secrets, secret);
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
    return await client.get(secrets, keyOf(secret)); // a replica of ours was faster
  }
}

/** A Secret of that name that someone else made is not ours to use or to change. */
function refuseForeign(secret: Secret, db: SampleDB): void {
  const labels = secret.metadata.labels ?? {};
  const ours = Object.entries({ ...managedBy, [labelNames.database]: db.metadata.name }).every(([name, value]) => labels[name] === value);
  if (!ours) throw new Occupied(`Secret ${keyText(keyOf(secret))} is there already and was not made for SampleDB ${db.metadata.name}`);
}

function certifiedKey({ data = {} }: Secret): CertifiedKey {
  return { certificate: atob(data["tls.crt"] ?? ""), key: atob(data["tls.key"] ?? "") };
}

/** When the certificate ends; undefined when it is not of this authority, or none. */
function expiry({ data = {} }: Secret, authority: string): Date | undefined {
  try {
    const certificate = new X509Certificate(atob(data["tls.crt"] ?? ""));
    return certificate.checkIssued(new X509Certificate(authority)) ? new Date(certificate.validTo) : undefined;
  } catch {
    return undefined; // not readable: made anew
  }
}

// Passwords and certificates of a SampleDB. Secrets are read by name and never watched, so what was seen is remembered for a while.
import { unprovenAnnotation } from "../../api/annotations.ts";
import { BoundedMap } from "../../runtime/bounded-map.ts";
import { readCertificate } from "../../runtime/certificates/inspect.ts";
import type { CertifiedKey } from "../../runtime/certificates/issue.ts";
import type { Kept } from "../../runtime/certificates/rotation.ts";
import { Occupied } from "../../runtime/controller/objects.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { AlreadyExists, ignoreNotFound } from "../../runtime/kube/errors.ts";
import { type Key, keyOf, keyText } from "../../runtime/kube/object.ts";
import { authorityName, authoritySecret, certificateSecret, keptIn } from "../desired/certificates.ts";
import { applicationSecret, replicationSecret, superuserSecret } from "../desired/credentials.ts";
import { belongsTo } from "../desired/identity.ts";
import { namesOf } from "../desired/names.ts";
import { nextPasswordSecret } from "../desired/rotation.ts";
import { type Secret, secrets } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { clientCertificate, renewalDue, rotateCertificates } from "./certificates.ts";

export interface CredentialsOptions {
  /** Where authorities are kept: whoever reads Secrets beside a database can't sign for it. */
  readonly operatorNamespace: string;
  readonly now: () => Date;
  readonly password: () => string;
}

/** What the operator shows to an instance, and what it expects of it. */
export interface OperatorIdentity extends CertifiedKey {
  readonly authorities: string;
}

/** The certificate that the instances are to serve. */
export interface Serving {
  readonly fingerprint: string;
  readonly expires: Date;
  readonly authorities: string;
}

interface Seen {
  readonly until: number;
  readonly unproven: readonly string[];
  readonly passwordWaits: boolean;
  readonly serving: Serving;
  readonly kept: Kept;
  identity?: OperatorIdentity;
}

/** What is known of the database. */
export interface Circumstances {
  /** The bundle of authorities that each instance is known to have read. */
  readonly trusted: readonly string[];
  readonly hasData: boolean;
}

export interface Ensured {
  readonly serving: Serving;
  /** Secrets with passwords that PostgreSQL does not know. */
  readonly unproven: readonly string[];
  /** There is one for the application that PostgreSQL may know and the application does not. */
  readonly passwordWaits: boolean;
}

/** How long what was seen is taken for granted. Pods that run have what they need; this is for those to come. */
const rememberMilliseconds = 6 * 3_600_000;
const rememberUnprovenMilliseconds = 60_000;

export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #seen = new BoundedMap<Seen>(10_000);

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /**
   * Makes what is missing, and renews what is due; costs no request when it was looked at not long ago.
   */
  async ensure(db: SampleDB, client: KubeClient, { trusted, hasData }: Circumstances): Promise<Ensured> {
    const now = this.#options.now();
    const seen = this.#seen.get(idOf(db));
    if (seen && seen.until > now.getTime()) return seen;
    const kept = await this.#certificates(db, client, trusted);
    const unproven = await this.#passwords(db, client, kept.bundle, hasData);
    const passwordWaits = (await this.nextPassword(db, client)) !== undefined;
    const until = now.getTime() + (unproven.length > 0 ? rememberUnprovenMilliseconds : rememberMilliseconds);
    const ensured = { until, kept, unproven, passwordWaits, serving: servingOf(kept) };
    this.#seen.set(idOf(db), ensured);
    return ensured;
  }

  /** Looks again at the next occasion. */
  forget(db: SampleDB): void {
    this.#seen.delete(idOf(db));
  }

  /** For calls to instances; a certificate of a day, never written down. Undefined before `ensure` has seen the database. */
  async operatorIdentity(db: SampleDB): Promise<OperatorIdentity | undefined> {
    const seen = this.#seen.get(idOf(db));
    if (!seen) return undefined;
    const now = this.#options.now();
    if (!seen.identity || renewalDue(seen.identity, now)) {
      const issued = await clientCertificate(seen.kept, databaseOf(db), "operator", now);
      seen.identity = { ...issued, authorities: seen.kept.bundle };
    }
    return seen.identity;
  }

  /** The application's, if there is one that is to take the place of the one it has. */
  async nextPassword(db: SampleDB, client: KubeClient): Promise<Secret | undefined> {
    const next = await client.find(secrets, { namespace: db.metadata.namespace ?? "", name: namesOf(db).rotation });
    return next && belongsTo(db, next) ? next : undefined;
  }

  async writeNextPassword(db: SampleDB, client: KubeClient): Promise<Secret> {
    this.forget(db); // that none waits
    return await createOnce(client, nextPasswordSecret(db, this.#options.password()), db);
  }

  /** PostgreSQL knows it: now the application gets it. */
  async handOver(db: SampleDB, client: KubeClient, next: Secret): Promise<void> {
    const key = { namespace: db.metadata.namespace ?? "", name: namesOf(db).applicationSecret };
    const bound = await client.find(secrets, key);
    if (!bound) {
      this.forget(db);
      throw new Error(`Secret ${keyText(key)} is gone: it is made anew before it gets the new password`);
    }
    refuseForeign(bound, db);
    await write(client, applicationSecret(db, passwordIn(next), atob(bound.data?.["ca.crt"] ?? "")), bound);
    await client.mergePatch(secrets, key, { metadata: { annotations: { [unprovenAnnotation]: null } } });
  }

  async dropNextPassword(db: SampleDB, client: KubeClient, next: Secret): Promise<void> {
    await client.delete(secrets, keyOf(next), { uid: next.metadata.uid }).catch(ignoreNotFound);
    this.forget(db); // that it waits
  }

  /** Of the authority; for when the database is gone for good. */
  authorityKey(db: SampleDB): Key {
    return { namespace: this.#options.operatorNamespace, name: authorityName(db) };
  }

  /** Those whose passwords PostgreSQL does not know: they were lost, and made anew beside data that has the old ones. */
  async #passwords(db: SampleDB, client: KubeClient, authorities: string, hasData: boolean): Promise<string[]> {
    const { password } = this.#options;
    const ensure = (secret: Secret) => createOnce(client, hasData ? unproven(secret) : secret, db);
    const others = [await ensure(superuserSecret(db, password())), await ensure(replicationSecret(db, password()))];
    const bound = await ensure(applicationSecret(db, password(), authorities));
    // One that was kept from before may lead to another database, or trust another authority; the password stays what applications have.
    const wanted = applicationSecret(db, passwordIn(bound), authorities);
    if (Object.entries(wanted.data ?? {}).some(([key, value]) => bound.data?.[key] !== value)) await write(client, wanted, bound);
    return [...others, bound].filter(({ metadata }) => metadata.annotations?.[unprovenAnnotation]).map(({ metadata }) => metadata.name);
  }

  async #certificates(db: SampleDB, client: KubeClient, trusted: readonly string[]): Promise<Kept> {
    const place = { namespace: db.metadata.namespace ?? "", name: namesOf(db).certificateSecret };
    const [served, authority] = await Promise.all([client.find(secrets, place), client.find(secrets, this.authorityKey(db))]);
    if (served) refuseForeign(served, db);
    const { kept, plans } = await rotateCertificates(keptIn(authority, served), {
      database: databaseOf(db),
      trusted,
      now: this.#options.now(),
    });
    if (plans.length === 0) return kept;
    // The authority first: a certificate whose authority was lost can't be followed by another.
    await write(client, authoritySecret(db, this.#options.operatorNamespace, kept), authority);
    await write(client, certificateSecret(db, kept), served);
    return kept;
  }
}

function idOf({ metadata }: SampleDB): string {
  return metadata.uid ?? "";
}

function databaseOf({ metadata: { namespace = "", name } }: SampleDB) {
  return { namespace, name };
}

function servingOf({ certificate, bundle }: Kept): Serving {
  const read = readCertificate(certificate);
  if (!read) throw new Error("the certificate that was just made can't be read");
  return { fingerprint: read.fingerprint256, expires: read.validToDate, authorities: bundle };
}

function passwordIn({ data }: Secret): string {
  return atob(data?.["password"] ?? "");
}

function unproven(secret: Secret): Secret {
  return { ...secret, metadata: { ...secret.metadata, annotations: { [unprovenAnnotation]: "true" } } };
}

/** Onto what was read and nothing newer. */
async function write(client: KubeClient, secret: Secret, before: Secret | undefined): Promise<void> {
  if (!before) await client.create(secrets, secret);
  else await client.apply(secrets, { ...secret, metadata: { ...secret.metadata, resourceVersion: before.metadata.resourceVersion ?? "" } });
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
    const made = await client.get(secrets, keyOf(secret)); // by a replica of ours that was faster, or by a stranger
    refuseForeign(made, db);
    return made;
  }
}

/** A Secret of that name that someone else made is not ours to use or to change. */
function refuseForeign(secret: Secret, db: SampleDB): void {
  if (!belongsTo(db, secret))
    throw new Occupied(`Secret ${keyText(keyOf(secret))} is there already and was not made for SampleDB ${db.metadata.name}`);
}

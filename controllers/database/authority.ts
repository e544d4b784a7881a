// The certificates of databases. Each database has an authority of its own, which signs for its instances and for their clients.
import { BoundedMap } from "../../runtime/bounded-map.ts";
import { readCertificate } from "../../runtime/certificates/inspect.ts";
import type { CertifiedKey } from "../../runtime/certificates/issue.ts";
import type { Kept } from "../../runtime/certificates/rotation.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { Key } from "../../runtime/kube/object.ts";
import { authorityName, authoritySecret, certificateSecret, keptIn, pairIn, repositorySecret } from "../desired/certificates.ts";
import type { DatabaseIdentity } from "../desired/identity.ts";
import { namesOf } from "../desired/names.ts";
import { secrets } from "../kinds/kubernetes.ts";
import {
  backupCertificate,
  type ClientRole,
  clientCertificate,
  renewalDue,
  repositoryCertificate,
  rotateCertificates,
} from "./certificates.ts";
import { refuseForeign, writeOver } from "./secrets.ts";

export interface AuthorityOptions {
  /** The namespace of the authorities' keys. A user who may read Secrets beside a database must not be able to sign for it. */
  readonly operatorNamespace: string;
  readonly now: () => Date;
}

/** The certificate and key that a client shows to an instance, and the authorities that it trusts in return. */
export interface ClientIdentity extends CertifiedKey {
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
  readonly kept: Kept;
  readonly serving: Serving;
  readonly clients: Map<ClientRole, ClientIdentity>;
  /** Whether the repository has its certificate; undefined before anybody asked. */
  repository?: boolean;
}

/** For this long the Secrets are not read again. Certificates are renewed months before they expire, so some hours are no loss. */
const rememberMilliseconds = 6 * 3_600_000;

/** Takes a database by its identity, not by its SampleDB: a Backup and a repository need certificates after their SampleDB is gone. */
export class Authority {
  readonly #options: AuthorityOptions;
  readonly #seen = new BoundedMap<Seen>(10_000);

  constructor(options: AuthorityOptions) {
    this.#options = options;
  }

  /**
   * Makes the certificates that are missing, and renews those that are due. Costs no request while the last look is remembered.
   * `trusted` has, for each instance that runs, the bundle of authorities that it is known to have read, or an empty text. A new
   * authority signs only when all of them have it, so a caller must name every instance.
   */
  async ensure(database: DatabaseIdentity, client: KubeClient, trusted: readonly string[]): Promise<Serving> {
    const now = this.#options.now();
    const seen = this.#seen.get(database.uid);
    if (seen && seen.until > now.getTime()) return seen.serving;
    const kept = await this.#rotate(database, client, trusted, now);
    const serving = servingOf(kept);
    this.#seen.set(database.uid, { until: now.getTime() + rememberMilliseconds, kept, serving, clients: new Map() });
    return serving;
  }

  /** The next `ensure` reads the Secrets again. */
  forget({ uid }: DatabaseIdentity): void {
    this.#seen.delete(uid);
  }

  /**
   * A certificate with which a client of this role calls the instances. It stays in memory until it is due for renewal.
   * Undefined before `ensure` has seen the database.
   */
  async certificateFor(database: DatabaseIdentity, role: ClientRole): Promise<ClientIdentity | undefined> {
    const seen = this.#seen.get(database.uid);
    if (!seen) return undefined;
    const now = this.#options.now();
    const issued = seen.clients.get(role);
    if (issued && !renewalDue(issued, now)) return issued;
    const identity = { ...(await clientCertificate(seen.kept, database, role, now)), authorities: seen.kept.bundle };
    seen.clients.set(role, identity);
    return identity;
  }

  /** A new certificate for one backup run. Undefined before `ensure` has seen the database, and where the authority's key is lost. */
  async certificateForBackup(database: DatabaseIdentity, lifetimeMs: number): Promise<ClientIdentity | undefined> {
    const kept = this.#seen.get(database.uid)?.kept;
    const issued = kept && (await backupCertificate(kept, database, lifetimeMs, this.#options.now()));
    return issued && { ...issued, authorities: kept.bundle };
  }

  /**
   * Makes the certificate of the repository, and renews it. False where it can't be made, because the authority's key is lost. Costs no
   * request while the last look is remembered. Rejects before `ensure` has seen the database.
   */
  async ensureRepository(database: DatabaseIdentity, client: KubeClient): Promise<boolean> {
    const seen = this.#seen.get(database.uid);
    if (!seen) throw new Error(`the certificates of ${database.namespace}/${database.name} are not known yet`);
    seen.repository ??= await this.#writeRepository(database, client, seen.kept);
    return seen.repository;
  }

  async #writeRepository(database: DatabaseIdentity, client: KubeClient, kept: Kept): Promise<boolean> {
    const db = { metadata: database };
    const stored = await client.find(secrets, { namespace: database.namespace, name: namesOf(db).repository });
    if (stored) refuseForeign(stored, database.name);
    const before = stored && pairIn(stored);
    const now = this.#options.now();
    const issued = await repositoryCertificate(kept, database, before, now);
    if (issued === undefined) return false;
    const secret = repositorySecret(db, { ...issued, bundle: kept.bundle });
    if (JSON.stringify(secret.data) !== JSON.stringify(stored?.data)) await writeOver(client, stored, secret);
    return true;
  }

  /** Where the Secret with the authority's key is. Nothing owns it, so deletion of the database for good has to name it. */
  keySecret(database: DatabaseIdentity): Key {
    return { namespace: this.#options.operatorNamespace, name: authorityName({ metadata: database }) };
  }

  async #rotate(database: DatabaseIdentity, client: KubeClient, trusted: readonly string[], now: Date): Promise<Kept> {
    const db = { metadata: database };
    const servedSecret = { namespace: database.namespace, name: namesOf(db).certificateSecret };
    const [served, authority] = await Promise.all([client.find(secrets, servedSecret), client.find(secrets, this.keySecret(database))]);
    if (served) refuseForeign(served, database.name);
    const { kept, plans } = await rotateCertificates(keptIn(authority, served), { database, trusted, now });
    if (plans.length === 0) return kept;
    // The authority's Secret goes first. A crash after the certificate alone would lose its authority's key for ever.
    await writeOver(client, authority, authoritySecret(db, this.#options.operatorNamespace, kept));
    await writeOver(client, served, certificateSecret(db, kept));
    return kept;
  }
}

function servingOf({ certificate, bundle }: Kept): Serving {
  const read = readCertificate(certificate);
  if (!read) throw new Error("the certificate that was just made can't be read");
  return { fingerprint: read.fingerprint256, expires: read.validToDate, authorities: bundle };
}

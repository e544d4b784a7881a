// The passwords of a SampleDB: the superuser's, the replication user's, the application's, and the application's next one.
import { unprovenAnnotation } from "../../api/annotations.ts";
import { BoundedMap } from "../../runtime/bounded-map.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { ignoreNotFound } from "../../runtime/kube/errors.ts";
import { type Key, keyOf, keyText } from "../../runtime/kube/object.ts";
import { applicationSecret, replicationSecret, superuserSecret } from "../desired/credentials.ts";
import { belongsTo } from "../desired/identity.ts";
import { namesOf } from "../desired/names.ts";
import { nextPasswordSecret } from "../desired/rotation.ts";
import { type Secret, secrets } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { createOnce, refuseForeign, writeOver } from "./secrets.ts";

export interface PasswordsOptions {
  readonly now: () => Date;
  /** Makes a new random password. */
  readonly password: () => string;
}

export interface Circumstances {
  /** The authorities that applications must trust. They are a part of the application's Secret. */
  readonly authorities: string;
  /** There is data, so PostgreSQL has passwords already. */
  readonly hasData: boolean;
}

export interface KnownPasswords {
  /** Names of the Secrets with passwords that PostgreSQL does not know. */
  readonly unproven: readonly string[];
  /** The application's next password is stored. PostgreSQL may know it already; the application does not. */
  readonly passwordWaits: boolean;
}

interface Seen extends KnownPasswords {
  readonly until: number;
  /** The authorities in the application's Secret. */
  readonly authorities: string;
}

/** For this long the Secrets are not read again. Running Pods have theirs already; only later Pods need them. */
const rememberMilliseconds = 6 * 3_600_000;
/** Shorter, because no watch reports that a person took the annotation off. */
const rememberUnprovenMilliseconds = 60_000;

export class Passwords {
  readonly #options: PasswordsOptions;
  readonly #seen = new BoundedMap<Seen>(10_000);

  constructor(options: PasswordsOptions) {
    this.#options = options;
  }

  /**
   * Makes the Secrets that are missing, and corrects the application's. Costs no request while the last look is remembered and the
   * authorities are the same.
   */
  async ensure(db: SampleDB, client: KubeClient, { authorities, hasData }: Circumstances): Promise<KnownPasswords> {
    const now = this.#options.now().getTime();
    const seen = this.#seen.get(idOf(db));
    if (seen && seen.until > now && seen.authorities === authorities) return seen;
    const unproven = await this.#make(db, client, { authorities, hasData });
    const passwordWaits = (await this.nextPassword(db, client)) !== undefined;
    const until = now + (unproven.length > 0 ? rememberUnprovenMilliseconds : rememberMilliseconds);
    const known = { until, authorities, unproven, passwordWaits };
    this.#seen.set(idOf(db), known);
    return known;
  }

  /** The next `ensure` reads the Secrets again. */
  forget(db: SampleDB): void {
    this.#seen.delete(idOf(db));
  }

  /** The application's next password, while a rotation is under way. */
  async nextPassword(db: SampleDB, client: KubeClient): Promise<Secret | undefined> {
    const next = await client.find(secrets, secretKey(db, namesOf(db).rotation));
    return next && belongsTo(db, next) ? next : undefined;
  }

  async writeNextPassword(db: SampleDB, client: KubeClient): Promise<Secret> {
    this.forget(db); // otherwise `ensure` would go on to say that no password waits
    return await createOnce(client, nextPasswordSecret(db, this.#options.password()), db.metadata.name);
  }

  /** Gives the next password to the application. The caller must be sure that PostgreSQL knows it. */
  async handOver(db: SampleDB, client: KubeClient, next: Secret): Promise<void> {
    const key = secretKey(db, namesOf(db).applicationSecret);
    const bound = await client.find(secrets, key);
    if (!bound) {
      this.forget(db);
      throw new Error(`Secret ${keyText(key)} is gone: it is made anew before it gets the new password`);
    }
    refuseForeign(bound, db.metadata.name);
    await writeOver(client, bound, applicationSecret(db, passwordIn(next), atob(bound.data?.["ca.crt"] ?? "")));
    await client.mergePatch(secrets, key, { metadata: { annotations: { [unprovenAnnotation]: null } } });
  }

  async dropNextPassword(db: SampleDB, client: KubeClient, next: Secret): Promise<void> {
    await client.delete(secrets, keyOf(next), { uid: next.metadata.uid }).catch(ignoreNotFound);
    this.forget(db); // otherwise `ensure` would go on to say that a password waits
  }

  /** Returns the names of unproven Secrets. Such a Secret was lost and made anew, while PostgreSQL still has the old password. */
  async #make(db: SampleDB, client: KubeClient, { authorities, hasData }: Circumstances): Promise<string[]> {
    const { password } = this.#options;
    const ensure = (secret: Secret) => createOnce(client, hasData ? unproven(secret) : secret, db.metadata.name);
    const others = [await ensure(superuserSecret(db, password())), await ensure(replicationSecret(db, password()))];
    const bound = await ensure(applicationSecret(db, password(), authorities));
    // A Secret of an earlier SampleDB may name another database, or trust another authority. Its password stays: applications use it.
    const wanted = applicationSecret(db, passwordIn(bound), authorities);
    if (Object.entries(wanted.data ?? {}).some(([key, value]) => bound.data?.[key] !== value)) await writeOver(client, bound, wanted);
    return [...others, bound].filter(({ metadata }) => metadata.annotations?.[unprovenAnnotation]).map(({ metadata }) => metadata.name);
  }
}

function idOf({ metadata }: SampleDB): string {
  return metadata.uid ?? "";
}

function secretKey({ metadata: { namespace = "" } }: SampleDB, name: string): Key {
  return { namespace, name };
}

function passwordIn({ data }: Secret): string {
  return atob(data?.["password"] ?? "");
}

function unproven(secret: Secret): Secret {
  return { ...secret, metadata: { ...secret.metadata, annotations: { [unprovenAnnotation]: "true" } } };
}

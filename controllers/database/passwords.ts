// The passwords of a SampleDB: of the superuser, of replication and of the application, and the application's next one.
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
  /** The authorities that applications are to trust: a part of their Secret. */
  readonly authorities: string;
  /** PostgreSQL has data, and so it has passwords. */
  readonly hasData: boolean;
}

export interface KnownPasswords {
  /** Names of the Secrets with passwords that PostgreSQL does not know. */
  readonly unproven: readonly string[];
  /** A new password for the application is written down; PostgreSQL may know it already, and the application does not. */
  readonly passwordWaits: boolean;
}

interface Seen extends KnownPasswords {
  readonly until: number;
  /** Those in the application's Secret. */
  readonly authorities: string;
}

/** Nothing is read again for so long. Pods that run have their Secrets; the next look is for Pods to come. */
const rememberMilliseconds = 6 * 3_600_000;
/** Shorter, because nothing tells the operator when a person takes the annotation off. */
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
    this.forget(db); // remembered is that no password waits
    return await createOnce(client, nextPasswordSecret(db, this.#options.password()), db.metadata.name);
  }

  /** Gives the next password to the application. PostgreSQL must know it by now. */
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
    this.forget(db); // remembered is that a password waits
  }

  /** Returns the names of unproven Secrets: each was lost, and made anew beside data that still has the old password. */
  async #make(db: SampleDB, client: KubeClient, { authorities, hasData }: Circumstances): Promise<string[]> {
    const { password } = this.#options;
    const ensure = (secret: Secret) => createOnce(client, hasData ? unproven(secret) : secret, db.metadata.name);
    const others = [await ensure(superuserSecret(db, password())), await ensure(replicationSecret(db, password()))];
    const bound = await ensure(applicationSecret(db, password(), authorities));
    // A Secret from before may lead to another database, or trust another authority. Its password stays: applications have it.
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

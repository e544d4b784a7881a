// The authority of one database, and the certificates that it signs: the one that the Pods serve, and those of their clients. No I/O:
// authority.ts reads and writes the Secrets.
import { createHash } from "node:crypto";
import { carryOut, type Making } from "../../runtime/certificates/carry-out.ts";
import { isIssuedBy, readCertificate, splitBundle } from "../../runtime/certificates/inspect.ts";
import { type CertifiedKey, issueCertificate } from "../../runtime/certificates/issue.ts";
import { isDue, type Kept, type Plan, planRotation, signingAuthority } from "../../runtime/certificates/rotation.ts";

export interface DatabaseName {
  readonly namespace: string;
  readonly name: string;
}

export interface DatabaseSituation {
  readonly database: DatabaseName;
  /** For each instance that runs, the bundle of authorities that it is known to have read; empty where that is not known. */
  readonly trusted: readonly string[];
  readonly now: Date;
}

export interface Rotated {
  readonly kept: Kept;
  /** The actions that were carried out, in order; empty when everything can stay as it is. */
  readonly plans: readonly Exclude<Plan, { readonly action: "nothing" }>[];
}

const day = 24 * 3_600_000;
const year = 365 * day;

/** Applications copy the authority to places that the operator can't reach, so it must change seldom, and with notice. */
const authorityLifetimeMs = 10 * year;
/** The notice: a new authority is in the bundle for this long before it signs. The old one is still good for more than two years then. */
const settleMs = year;
/** The operator renews it after eight months, without a restart. The operator may be away for the four months that are left. */
const serverLifetimeMs = year;

/** The clients that an authority signs for, and how long their certificates live. A new role is one line here. */
const clientLifetimesMs = {
  /** The operator has its certificate in memory only. A leaked one is worthless the next day. */
  operator: day,
};

export type ClientRole = keyof typeof clientLifetimesMs;

/** The last part of a certificate's name. Programs authorise by it. */
export type Role = "authority" | "server" | "repository" | "backup" | ClientRole;

/** Against a loop without an end. More than one action is rare: it takes names that changed while the authority is due. */
const mostSteps = 10;

export const nothingKept: Kept = { bundle: "", authorityKey: "", formerKey: "", trustedSince: "", certificate: "", key: "" };

/**
 * Carries out every action that is due. The caller must store the result, and the authority's key before the certificate: when the key
 * of an authority is lost, clients that trust it trust no later certificate.
 */
export async function rotateCertificates(kept: Kept, { database, trusted, now }: DatabaseSituation): Promise<Rotated> {
  const making = serverMaking(database, now);
  const plans: Exclude<Plan, { readonly action: "nothing" }>[] = [];
  let next = kept;
  while (plans.length < mostSteps) {
    const plan = planRotation({ kept: next, trusted, names: making.names, settleMs, now });
    if (plan.action === "nothing") return { kept: next, plans };
    next = await carryOut(plan, next, making);
    plans.push(plan);
  }
  throw new Error(
    `the certificates of ${database.namespace}/${database.name} do not settle: ${plans.map(({ action }) => action).join(", ")}`,
  );
}

/**
 * A certificate with which a client of this role calls the database's instances. It is signed by the authority that the instances trust
 * now, which is not always the newest. Where the key of that authority was lost, the instances trust nothing but the server's own
 * certificate, so the client gets that one. This suits the operator only: a role whose certificate goes to a Pod could act as a server.
 */
export async function clientCertificate(kept: Kept, database: DatabaseName, role: ClientRole, now: Date): Promise<CertifiedKey> {
  const authority = signingAuthority(kept, now);
  if (authority === undefined) return { certificate: kept.certificate, key: kept.key };
  return await issueCertificate(authority, {
    commonName: certificateName(database, role),
    usages: ["client"],
    lifetimeMs: clientLifetimesMs[role],
    now,
  });
}

/**
 * The certificate that the repository serves; `before` stays while it is good. Undefined where the key of the authority that the instances
 * trust is lost: they would trust no certificate that is made now.
 */
export async function repositoryCertificate(
  kept: Kept,
  database: DatabaseName,
  before: CertifiedKey | undefined,
  now: Date,
): Promise<CertifiedKey | undefined> {
  const authority = signingAuthority(kept, now);
  const isGood = before !== undefined && !renewalDue(before, now) && isSignedBy(before.certificate, kept.bundle);
  if (isGood || authority === undefined) return isGood ? before : undefined;
  return await issueCertificate(authority, {
    commonName: certificateName(database, "repository"),
    dnsNames: serviceNames(`${database.name}-repository`, database.namespace),
    usages: ["server"],
    lifetimeMs: serverLifetimeMs,
    now,
  });
}

/**
 * The certificate of one backup run, whose Pod calls the instances and answers the operator. It lives for as long as the run may take.
 * Undefined where the key of the authority that the instances trust is lost.
 */
export async function backupCertificate(
  kept: Kept,
  database: DatabaseName,
  lifetimeMs: number,
  now: Date,
): Promise<CertifiedKey | undefined> {
  const authority = signingAuthority(kept, now);
  if (authority === undefined) return undefined;
  return await issueCertificate(authority, {
    commonName: certificateName(database, "backup"),
    usages: ["client", "server"],
    lifetimeMs,
    now,
  });
}

function isSignedBy(certificate: string, bundle: string): boolean {
  const leaf = readCertificate(certificate);
  const authorities = splitBundle(bundle).map(readCertificate);
  return leaf !== undefined && authorities.some((authority) => authority !== undefined && isIssuedBy(leaf, authority));
}

/** True with a third of its life left, or when it can't be read. */
export function renewalDue({ certificate }: CertifiedKey, now: Date): boolean {
  const read = readCertificate(certificate);
  return read === undefined || isDue(read, now);
}

/** The longest common name that X.509 allows. */
const longestName = 64;

/**
 * `namespace/name/role`, the name that programs authorise by. No part can have a slash in it, so no database can get the name of
 * another. Where the name would be too long, a hash stands for namespace and name.
 */
export function certificateName({ namespace, name }: DatabaseName, role: Role): string {
  const full = `${namespace}/${name}/${role}`;
  if (full.length <= longestName) return full;
  const hash = createHash("sha256").update(`${namespace}/${name}`).digest("hex");
  return `${hash.slice(0, 40)}/${role}`;
}

/** All names by which clients, members and programs inside the Pod call an instance. */
export function serverNames({ namespace, name }: DatabaseName): string[] {
  const services = [`${name}-rw`, `${name}-ro`].flatMap((service) => serviceNames(service, namespace));
  return [...services, ...inCluster(`*.${name}-pods`, namespace), "localhost", "127.0.0.1", "::1"];
}

function serviceNames(service: string, namespace: string): string[] {
  return [service, `${service}.${namespace}`, ...inCluster(service, namespace)];
}

function inCluster(host: string, namespace: string): string[] {
  return [`${host}.${namespace}.svc`, `${host}.${namespace}.svc.cluster.local`];
}

function serverMaking(database: DatabaseName, now: Date): Making {
  return {
    authorityName: certificateName(database, "authority"),
    leafName: certificateName(database, "server"),
    names: serverNames(database),
    usages: ["server", "client"], // the members call each other with it
    authorityLifetimeMs,
    leafLifetimeMs: serverLifetimeMs,
    now,
  };
}

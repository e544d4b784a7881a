// The authority of one database and what it signs: the certificate that its Pods serve, and ours as their client. No I/O: the
// authority's key is kept in the operator's namespace, the certificate and the bundle of authorities beside the database.
import { createHash } from "node:crypto";
import { carryOut, type Making } from "../../runtime/certificates/carry-out.ts";
import { readCertificate } from "../../runtime/certificates/inspect.ts";
import { type CertifiedKey, issueCertificate } from "../../runtime/certificates/issue.ts";
import { isDue, type Kept, type Plan, planRotation, signingAuthority } from "../../runtime/certificates/rotation.ts";

export interface DatabaseName {
  readonly namespace: string;
  readonly name: string;
}

export interface DatabaseSituation {
  readonly database: DatabaseName;
  /** For each instance, the bundle that it is known to have read; empty for one that is not known to. Instances that are down don't count. */
  readonly trusted: readonly string[];
  readonly now: Date;
}

export interface Rotated {
  readonly kept: Kept;
  /** What was done, in its order; empty when everything can stay as it is. */
  readonly plans: readonly Exclude<Plan, { readonly action: "nothing" }>[];
}

const day = 24 * 3_600_000;
const year = 365 * day;

/** Applications copy the authority to where we can't reach it, so it is to change seldom, and with notice. */
const authorityLifetimeMs = 10 * year;
/** A new authority is in the bundle for this long before it signs: the notice. The old one still has more than two years then. */
const settleMs = year;
/** Renewed after eight months without a restart; the operator may be away for the four that are left. */
const serverLifetimeMs = year;

/** The clients that an authority signs for, and how long their certificates live. A new role is one line here. */
const clientLifetimesMs = {
  /** The operator keeps its certificate in memory only, and makes another when it is due: a leaked one is worthless the next day. */
  operator: day,
};

export type ClientRole = keyof typeof clientLifetimesMs;

/** Whose certificate it is: the last part of its name, which programs authorise by. */
export type Role = "authority" | "server" | ClientRole;

/** More than one after the other are rare: a name that changed while the authority is due. */
const mostSteps = 10;

export const nothingKept: Kept = { bundle: "", authorityKey: "", formerKey: "", trustedSince: "", certificate: "", key: "" };

/**
 * Does whatever is due. The result goes to both Secrets, the operator's first: a certificate whose authority was lost can't be
 * followed by another.
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
 * A certificate with which a client of this role calls the database's instances. The authority that the instances trust now signs
 * it, which is not always the newest. Where the key of that authority was lost, the instances trust nothing but the server's own
 * certificate, so the client gets that one. Only the operator may: a role whose certificate goes to a Pod would act as a server.
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

/** With a third of its life left, or when it can't be read at all. */
export function renewalDue({ certificate }: CertifiedKey, now: Date): boolean {
  const read = readCertificate(certificate);
  return read === undefined || isDue(read, now);
}

/** The longest common name that X.509 allows. */
const longestName = 64;

/**
 * `namespace/name/role`, the name that programs authorise by. Neither part can have a slash in it, so no database can get the
 * name of another. Where it would be too long, a hash stands for namespace and name.
 */
export function certificateName({ namespace, name }: DatabaseName, role: Role): string {
  const full = `${namespace}/${name}/${role}`;
  if (full.length <= longestName) return full;
  const hash = createHash("sha256").update(`${namespace}/${name}`).digest("hex");
  return `${hash.slice(0, 40)}/${role}`;
}

/** All names by which clients, members and programs inside the Pod call an instance. */
export function serverNames({ namespace, name }: DatabaseName): string[] {
  const services = [`${name}-rw`, `${name}-ro`].flatMap((service) => [
    service,
    `${service}.${namespace}`,
    ...inCluster(service, namespace),
  ]);
  return [...services, ...inCluster(`*.${name}-pods`, namespace), "localhost", "127.0.0.1", "::1"];
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

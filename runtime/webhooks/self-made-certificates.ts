// The webhooks' own certificates where no other system makes them: stored in one Secret that all replicas share, and rotated by
// the replica that comes first.
import { carryOut, type Making } from "../certificates/carry-out.ts";
import type { CertifiedKey } from "../certificates/issue.ts";
import { type Kept, planRotation } from "../certificates/rotation.ts";
import type { KubeClient } from "../kube/client.ts";
import { AlreadyExists, Conflict, NotFound } from "../kube/errors.ts";
import { type Key, type KubeObject, keyText } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";
import type { Log } from "../observability/log.ts";
import { type ConfigurationName, type Observed, observeConfigurations, publishBundle, trustedBundles } from "./ca-bundles.ts";

export interface SelfMadeDependencies {
  /** Every replica keeps the certificates, so its writes must not depend on leadership. */
  readonly kube: KubeClient;
  readonly secret: Key;
  /** Labels of the Secret when it is created. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly configurations: readonly ConfigurationName[];
  /** DNS names and addresses by which the API server calls us: `<service>.<namespace>.svc`. */
  readonly names: readonly string[];
  readonly commonName: string;
  /** Default: a year. */
  readonly authorityLifetimeMs?: number;
  /** Default: 90 days. */
  readonly leafLifetimeMs?: number;
  readonly now: () => Date;
  readonly log: Pick<Log, "info" | "warn">;
}

export interface Keeping {
  /** The certificate to serve from now on. */
  readonly serving: CertifiedKey;
  readonly nextCheckMs: number;
  /** Configurations that don't exist. Their webhooks are not called, which is no problem of the operator. */
  readonly missing: readonly string[];
  /** Why the API server does not trust us, for people; empty if it does. */
  readonly problems: readonly string[];
}

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export const secrets = namespaced<Secret>("v1", "Secret", "secrets");
const day = 24 * 3_600_000;
/** Covers the passing of time only: CertificateKeeper also watches the configurations and the Secret. */
const checkEveryMs = 3_600_000;
/** An API server learns of a bundle by a watch, later than we see it. This is far more than its lag, and little of a life of months. */
const settleMs = 3_600_000;
const retryMs = 30_000;
const rounds = 10;

/**
 * Carries out all steps that are due and returns when to call it again. Safe to call at any time, by any number of replicas at
 * once. Rejects when the API server does not answer: the served certificate stays valid for weeks.
 */
export async function keepCertificates(deps: SelfMadeDependencies): Promise<Keeping> {
  for (let round = 1; round <= rounds; round++) {
    // The configurations are read first: then the Secret, read afterwards, is not older than the bundle in them.
    const observed = await observeConfigurations(deps.kube, deps.configurations);
    const secret = await deps.kube.find(secrets, deps.secret);
    const kept = keptIn(secret);
    const now = deps.now();
    const plan = planRotation({ kept, trusted: trustedBundles(observed), names: deps.names, settleMs, now });
    try {
      if (plan.action === "nothing") return result(kept, observed, await publishBundle(deps.kube, observed, kept.bundle));
      await write(secret, await carryOut(plan, kept, making(deps, now)), deps);
      const level = plan.action === "make anew" ? "warn" : "info";
      deps.log[level]({ kind: "Secret", key: keyText(deps.secret) }, `webhook certificates: ${plan.action}: ${plan.reason}`);
    } catch (error) {
      // Another replica was faster: the next round reads its result. NotFound without a Secret means that the namespace is missing.
      const overtaken = error instanceof Conflict || error instanceof AlreadyExists || (error instanceof NotFound && secret !== undefined);
      if (!overtaken) throw error;
    }
  }
  throw new Error(`Secret ${keyText(deps.secret)} or its webhooks keep changing: not settled after ${rounds} rounds`);
}

function making({ commonName, names, authorityLifetimeMs, leafLifetimeMs }: SelfMadeDependencies, now: Date): Making {
  return {
    authorityName: commonName,
    leafName: commonName,
    names,
    usages: ["server"],
    authorityLifetimeMs: authorityLifetimeMs ?? 365 * day,
    leafLifetimeMs: leafLifetimeMs ?? 90 * day,
    now,
  };
}

function result({ certificate, key }: Kept, observed: readonly Observed[], problems: readonly string[]): Keeping {
  const missing = observed.flatMap((configuration) => (configuration.state === "missing" ? configuration.problem : []));
  return { serving: { certificate, key }, nextCheckMs: problems.length > 0 ? retryMs : checkEveryMs, missing, problems };
}

/** Writes only if the Secret is as it was read: rejects if it was created, changed or deleted since. */
async function write(secret: Secret | undefined, kept: Kept, deps: SelfMadeDependencies): Promise<void> {
  if (secret === undefined) await deps.kube.create(secrets, newSecret(kept, deps));
  else await deps.kube.replace(secrets, { ...secret, data: { ...secret.data, ...dataOf(kept) } });
}

function newSecret(kept: Kept, { secret, labels = {} }: SelfMadeDependencies): Secret {
  return { apiVersion: "v1", kind: "Secret", metadata: { ...secret, labels }, type: "kubernetes.io/tls", data: dataOf(kept) };
}

/** Keys of the material in the Secret. */
const keys = {
  bundle: "ca.crt",
  authorityKey: "ca.key",
  formerKey: "ca.former-key",
  trustedSince: "ca.trusted-since",
  certificate: "tls.crt",
  key: "tls.key",
} satisfies Record<keyof Kept, string>;

function keptIn(secret: Secret | undefined): Kept {
  const text = (key: string) => Buffer.from(secret?.data?.[key] ?? "", "base64").toString("utf8");
  return {
    bundle: text(keys.bundle),
    authorityKey: text(keys.authorityKey),
    formerKey: text(keys.formerKey),
    trustedSince: text(keys.trustedSince),
    certificate: text(keys.certificate),
    key: text(keys.key),
  };
}

function dataOf(kept: Kept): Record<string, string> {
  const parts = Object.entries(keys) as [keyof Kept, string][];
  return Object.fromEntries(parts.map(([part, key]) => [key, Buffer.from(kept[part]).toString("base64")]));
}

// The Secrets of TLS: the instances' certificate beside the database, the authority's key with the operator.
import type { Secret } from "../kinds.ts";
import type { SampleDB } from "../resources.ts";
import { kept, labelsOf } from "./identity.ts";
import { namesOf } from "./names.ts";

interface CertifiedKey {
  readonly certificate: string;
  readonly key: string;
}

export function authorityName({ metadata: { namespace, name } }: SampleDB): string {
  return `authority.${namespace}.${name}`;
}

/** Names that clients use. Instances call each other by address, and check the authority only. */
export function certificateNames(db: SampleDB) {
  const { namespace, name } = db.metadata;
  const { readWriteService, readOnlyService, podsService } = namesOf(db);
  const inNamespace = (host: string) => [`${host}.${namespace}.svc`, `${host}.${namespace}.svc.cluster.local`];
  const ofService = (host: string) => [host, `${host}.${namespace}`, ...inNamespace(host)];
  return {
    commonName: `${namespace}/${name}`.slice(0, 64),
    dnsNames: [...ofService(readWriteService), ...ofService(readOnlyService), ...inNamespace(`*.${podsService}`), "localhost"],
    ipAddresses: ["127.0.0.1", "::1"],
  };
}

export function certificateSecret(db: SampleDB, issued: CertifiedKey, authority: string): Secret {
  const data = { "ca.crt": btoa(authority), "tls.crt": btoa(issued.certificate), "tls.key": btoa(issued.key) };
  return { apiVersion: "v1", kind: "Secret", metadata: kept(db, namesOf(db).certificateSecret), type: "kubernetes.io/tls", data };
}

export function authoritySecret(db: SampleDB, namespace: string, authority: CertifiedKey): Secret {
  const metadata = { name: authorityName(db), namespace, labels: labelsOf(db) };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata,
    type: "kubernetes.io/tls",
    data: { "tls.crt": btoa(authority.certificate), "tls.key": btoa(authority.key) },
  };
}

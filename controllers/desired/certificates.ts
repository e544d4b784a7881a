// The TLS Secrets: the instances' certificate in the database's namespace, the authority's key in the operator's.
import type { Kept } from "../../runtime/certificates/rotation.ts";
import type { Secret } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { kept as keptMetadata, labelsOf } from "./identity.ts";
import { namesOf } from "./names.ts";

export function authorityName({ metadata: { namespace, name } }: Pick<SampleDB, "metadata">): string {
  return `authority.${namespace}.${name}`;
}

type Served = Pick<Kept, "bundle" | "certificate" | "key">;

/** The Secret that Pods mount. Applications take `ca.crt` from it. */
export function certificateSecret(db: Pick<SampleDB, "metadata">, served: Served): Secret {
  return tlsSecret(db, namesOf(db).certificateSecret, served);
}

/** The Secret that the repository's Pod mounts. */
export function repositorySecret(db: Pick<SampleDB, "metadata">, served: Served): Secret {
  return tlsSecret(db, namesOf(db).repository, served);
}

export function tlsSecret(db: Pick<SampleDB, "metadata">, name: string, { bundle, certificate, key }: Served): Secret {
  const data = { "ca.crt": btoa(bundle), "tls.crt": btoa(certificate), "tls.key": btoa(key) };
  return { apiVersion: "v1", kind: "Secret", metadata: keptMetadata(db, name), type: "kubernetes.io/tls", data };
}

export function pairIn({ data }: Secret): Pick<Kept, "certificate" | "key"> {
  return { certificate: atob(data?.["tls.crt"] ?? ""), key: atob(data?.["tls.key"] ?? "") };
}

export function authoritySecret(
  db: Pick<SampleDB, "metadata">,
  namespace: string,
  { bundle, authorityKey, formerKey, trustedSince }: Kept,
): Secret {
  const metadata = { name: authorityName(db), namespace, labels: labelsOf(db) };
  const data = { "ca.crt": btoa(bundle), "ca.key": btoa(authorityKey), "former.key": btoa(formerKey), "trusted-since": btoa(trustedSince) };
  return { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
}

/** The content of both Secrets together. Where the authority's Secret was lost, the bundle beside the database is left. */
export function keptIn(authority: Secret | undefined, served: Secret | undefined): Kept {
  const of = (secret: Secret | undefined, key: string) => atob(secret?.data?.[key] ?? "");
  return {
    bundle: of(authority, "ca.crt") || of(served, "ca.crt"),
    authorityKey: of(authority, "ca.key"),
    formerKey: of(authority, "former.key"),
    trustedSince: of(authority, "trusted-since"),
    certificate: of(served, "tls.crt"),
    key: of(served, "tls.key"),
  };
}

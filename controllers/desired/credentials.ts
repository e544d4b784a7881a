// The Secrets with passwords. They are made once and changed only by a person's order, because applications use the passwords.
import type { Secret } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { kept } from "./identity.ts";
import { namesOf } from "./names.ts";
import { postgresPort } from "./services.ts";

export const superuser = "postgres";
export const replicationUser = "replication";
/** It has no password: it connects by the socket of its own Pod only. */
export const monitoringUser = "monitor";

export function superuserSecret(db: SampleDB, password: string): Secret {
  return basicAuth(db, namesOf(db).superuserSecret, superuser, password);
}

export function replicationSecret(db: SampleDB, password: string): Secret {
  return basicAuth(db, namesOf(db).replicationSecret, replicationUser, password);
}

/** Everything that an application needs to connect, by the keys of the Service Binding specification. */
export function applicationSecret(db: SampleDB, password: string, authorities: string): Secret {
  const { databaseName: dbname, ownerName: user } = db.spec.bootstrap;
  const host = `${namesOf(db).readWriteService}.${db.metadata.namespace}.svc`;
  const port = String(postgresPort);
  const uri = `postgresql://${user}:${password}@${host}:${port}/${dbname}`;
  return secretOf(kept(db, namesOf(db).applicationSecret), "servicebinding.io/postgresql", {
    ...{ type: "postgresql", host, port, dbname, database: dbname, user, username: user, password, uri },
    "ca.crt": authorities, // for sslmode=verify-full
  });
}

function basicAuth(db: SampleDB, name: string, username: string, password: string): Secret {
  return secretOf(kept(db, name), "kubernetes.io/basic-auth", { username, password });
}

export function secretOf(metadata: Secret["metadata"], type: string, values: Readonly<Record<string, string>>): Secret {
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, btoa(value)]));
  return { apiVersion: "v1", kind: "Secret", metadata, type, data };
}

/** The password in one of these Secrets, as the value of an environment variable. */
export function passwordOf(secret: string) {
  return { secretKeyRef: { name: secret, key: "password" } };
}

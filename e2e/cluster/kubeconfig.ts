// A kubeconfig with everything inside, so that it can be copied, and so that it works in every mount namespace.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

export function kubeconfig(server: string, name: string, pkiDirectory: string, identity: string): string {
  const encoded = (file: string) => readFileSync(join(pkiDirectory, file)).toString("base64");
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": encoded("ca.crt") } }],
    users: [
      { name: identity, user: { "client-certificate-data": encoded(`${identity}.crt`), "client-key-data": encoded(`${identity}.key`) } },
    ],
    contexts: [{ name, context: { cluster: name, user: identity } }],
    "current-context": name,
  });
}

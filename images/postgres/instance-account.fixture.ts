// The service account of an instance's Pod on a real API server, for tests of the programs that use it.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { run } from "../../tools/command.ts";

export class InstanceAccount {
  readonly #plane: StandaloneControlPlane;
  readonly #directory: string;

  private constructor(plane: StandaloneControlPlane, directory: string) {
    this.#plane = plane;
    this.#directory = directory;
  }

  /** It has exactly the rights of an instance. */
  static async make(plane: StandaloneControlPlane, name: string, pods: readonly string[]): Promise<InstanceAccount> {
    const metadata = { name };
    const rules = [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "patch"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["patch"], resourceNames: pods },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "patch"], resourceNames: [`${name}-rw`] },
    ];
    const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    await makeObject(plane, "/api/v1/namespaces/default/serviceaccounts", { metadata });
    await makeObject(plane, `${roles}/roles`, { metadata, rules });
    await makeObject(plane, `${roles}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace: "default" }],
    });
    const directory = mkdtempSync(join(plane.directory, "account-"));
    const token = await plane.kubectl("create", "token", name);
    const files = { token, namespace: "default", "ca.crt": readFileSync(join(plane.directory, "pki", "ca.crt")) };
    for (const [file, content] of Object.entries(files)) writeFileSync(join(directory, file), content);
    return new InstanceAccount(plane, directory);
  }

  /** Runs a program of the image with this account; resolves to its log. */
  async run(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const { hostname, port } = new URL(this.#plane.url);
    const env = {
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      SERVICE_ACCOUNT_DIRECTORY: this.#directory,
      ...environment,
    };
    const script = join(import.meta.dirname, program);
    return await run("sh", ["-c", 'exec "$@" 2>&1', "sh", "python3", "-ISB", script, ...args], { env });
  }
}

export async function makeObject(plane: StandaloneControlPlane, path: string, object: object): Promise<void> {
  const answer = await plane.request("POST", path, object);
  expect(answer, JSON.stringify(answer?.body)).toMatchObject({ status: 201 });
}

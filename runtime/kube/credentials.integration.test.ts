// Every way to authenticate at a real API server, also while the credentials change.
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer, connect as tlsConnect } from "node:tls";
import type { KubeConfig as KubeConfigType } from "@kubernetes/client-node";
import { KubeConfig } from "@kubernetes/client-node/dist/config.js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { writeCertificates } from "../../e2e/cluster/pki.ts";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import type { KubeClient } from "./client.ts";
import { Forbidden, Unauthorized, Unreachable } from "./errors.ts";
import { kubeConfigFromFile } from "./kube-config.ts";
import { namespaced } from "./resource.ts";
import { configMaps, inDefault, TestConnection } from "./test-connection.fixture.ts";

const accounts = namespaced("v1", "ServiceAccount", "serviceaccounts");

let plane: StandaloneControlPlane;
let administrator: TestConnection;
let authority: string;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  administrator = new TestConnection(plane.kubeconfig);
  authority = join(plane.directory, "pki", "ca.crt");
});

afterAll(async () => {
  await administrator?.transport.close();
  await plane?.stop();
});

/** Longer than the minimum between two reads of the credentials. */
const untilTheyMayBeReadAgain = () => sleep(1050);

async function whoAmI(client: KubeClient): Promise<string> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  type Answer = { status: { userInfo: { username: string } } };
  return (await client.raw<Answer>("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)).status.userInfo.username;
}

async function newToken(account: string): Promise<string> {
  const path = `/api/v1/namespaces/default/serviceaccounts/${account}/token`;
  const { status } = await administrator.client.raw<{ status: { token: string } }>("POST", path, { spec: {} });
  return status.token;
}

/** A service account with a token that is no longer valid, and one that is. */
async function rotatedAccount(name: string): Promise<{ oldToken: string; token: string; username: string }> {
  const { client } = administrator;
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: inDefault(name) };
  await client.create(accounts, account);
  const oldToken = await newToken(name);
  await client.delete(accounts, inDefault(name));
  await client.create(accounts, account);
  return { oldToken, token: await newToken(name), username: `system:serviceaccount:default:${name}` };
}

/** A kubeconfig whose authority is a file, as in many Pods. */
function configFile(name: string, user: object, cluster: object = {}): string {
  const file = join(plane.directory, `${name}.kubeconfig`);
  const text = {
    clusters: [{ name: "c", cluster: { server: plane.url, "certificate-authority": authority, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(file, JSON.stringify(text));
  return file;
}

test("the client authenticates with a client certificate", async () => {
  expect(await whoAmI(administrator.client)).toBe("kubernetes-admin");
});

test("a client certificate that was replaced is used on new connections", async () => {
  let file = join(plane.directory, "kube-controller-manager.kubeconfig");
  await using connection = new TestConnection(() => kubeConfigFromFile(file));
  expect(await whoAmI(connection.client)).toBe("system:kube-controller-manager");
  file = plane.kubeconfig;
  await untilTheyMayBeReadAgain();
  connection.credentials.refresh();
  expect(await whoAmI(connection.client)).toBe("kubernetes-admin");
});

test("the client authenticates with a token, and its account is forbidden what it may not do", async () => {
  await using connection = new TestConnection(configFile("token", { token: await newToken("default") }));
  expect(await whoAmI(connection.client)).toBe("system:serviceaccount:default:default");
  const error: unknown = await connection.client.list(configMaps, { namespace: "default" }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Forbidden);
  expect(error).toMatchObject({ message: expect.stringMatching(/configmaps is forbidden: User "system:serviceaccount:default:default"/) });
});

test("an invalid token is refused, and a rewritten kubeconfig with a valid one is picked up", async () => {
  const file = configFile("changed", { token: "none" });
  await using connection = new TestConnection(file);
  await expect(whoAmI(connection.client)).rejects.toThrow(Unauthorized);
  configFile("changed", { token: await newToken("default") });
  await untilTheyMayBeReadAgain();
  await expect(whoAmI(connection.client)).rejects.toThrow(Unauthorized);
  expect(await whoAmI(connection.client)).toBe("system:serviceaccount:default:default");
});

test("with the files of a Pod's account, a replaced token is used after the first refusal", async () => {
  const { oldToken, token, username } = await rotatedAccount("rotated");
  const root = mkdtempSync(join(plane.directory, "pod-"));
  const directory = join(root, "var/run/secrets/kubernetes.io/serviceaccount");
  mkdirSync(directory, { recursive: true });
  copyFileSync(authority, join(directory, "ca.crt"));
  writeFileSync(join(directory, "token"), oldToken);
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "127.0.0.1").stubEnv("KUBERNETES_SERVICE_PORT", new URL(plane.url).port);
  await using connection = new TestConnection(() => {
    const config = new KubeConfig() as KubeConfigType;
    config.loadFromCluster(root);
    return config;
  });
  await expect(whoAmI(connection.client)).rejects.toThrow(Unauthorized);
  writeFileSync(join(directory, "token"), token);
  await untilTheyMayBeReadAgain();
  await expect(whoAmI(connection.client)).rejects.toThrow(Unauthorized);
  expect(await whoAmI(connection.client)).toBe(username);
  vi.unstubAllEnvs();
});

test("an exec plugin is asked once for many calls, and again when its token is refused", async () => {
  const { oldToken, token, username } = await rotatedAccount("by-plugin");
  const directory = mkdtempSync(join(plane.directory, "plugin-"));
  const [plugin, tokenFile, log] = ["plugin", "token", "log"].map((name) => join(directory, name)) as [string, string, string];
  const credential = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}`;
  writeFileSync(plugin, `#!/bin/sh\necho "$FLAVOUR $1" >> ${log}\nprintf '${credential}' "$(cat ${tokenFile})"\n`);
  chmodSync(plugin, 0o755);
  writeFileSync(tokenFile, oldToken);
  const env = [{ name: "FLAVOUR", value: "vanilla" }];
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: plugin, args: ["get-token"], env, interactiveMode: "Never" };
  await using connection = new TestConnection(configFile("exec", { exec }));
  await Promise.all(Array.from({ length: 5 }, () => expect(whoAmI(connection.client)).rejects.toThrow(Unauthorized)));
  expect(readFileSync(log, "utf8")).toBe("vanilla get-token\n");
  writeFileSync(tokenFile, token);
  await untilTheyMayBeReadAgain();
  await expect(whoAmI(connection.client)).rejects.toThrow(Unauthorized);
  for (let call = 0; call < 5; call++) expect(await whoAmI(connection.client)).toBe(username);
  expect(readFileSync(log, "utf8")).toBe("vanilla get-token\n".repeat(2));
});

test("a missing exec plugin is named in the error", async () => {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "/nowhere/plugin" };
  await using connection = new TestConnection(configFile("no-exec", { exec }));
  const error: unknown = await whoAmI(connection.client).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Unreachable);
  expect(error).toMatchObject({ message: expect.stringMatching(/nowhere\/plugin ENOENT/) });
});

test("after the authority was replaced, connections work again as soon as its file is new", async () => {
  const another = join(plane.directory, "another-pki");
  await writeCertificates(another, { server: { commonName: "server", servesAs: ["127.0.0.1"] } });
  const file = (pki: string, name: string) => readFileSync(join(pki, name));
  const own = join(plane.directory, "pki");
  const upstream = { ca: file(own, "ca.crt"), cert: file(own, "admin.crt"), key: file(own, "admin.key"), ALPNProtocols: ["http/1.1"] };
  const relay = createServer({ cert: file(another, "server.crt"), key: file(another, "server.key") }, (client) => {
    const behind = tlsConnect({ ...upstream, host: "127.0.0.1", port: Number(new URL(plane.url).port) });
    client.on("error", () => behind.destroy()).pipe(behind);
    behind.on("error", () => client.destroy()).pipe(client);
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const trusted = join(plane.directory, "trusted.crt");
  copyFileSync(authority, trusted);
  const server = `https://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  await using connection = new TestConnection(configFile("authority", {}, { server, "certificate-authority": trusted }));
  await expect(whoAmI(connection.client)).rejects.toThrow(/certificate/);
  copyFileSync(join(another, "ca.crt"), trusted);
  await untilTheyMayBeReadAgain();
  await expect(whoAmI(connection.client)).rejects.toThrow(Unreachable);
  expect(await whoAmI(connection.client)).toBe("kubernetes-admin");
  relay.close();
});

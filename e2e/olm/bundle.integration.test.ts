// The OLM bundle: the validators of catalogs, and the operator with the rights, flags and webhooks that OLM would give it.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { kinds } from "../../api/kinds.ts";
import { OperatorProcess } from "../../operator/operator-process.fixture.ts";
import installed from "../../operator/policies.json" with { type: "json" };
import { createAuthority, issueCertificate } from "../../runtime/certificates/issue.ts";
import { eventually } from "../../tools/eventually.ts";
import { freePort } from "../../tools/free-port.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { validateBundle, validatorsProgram } from "./validators.ts";

const directory = mkdtempSync(join(tmpdir(), "sampledb-olm-"));
const bundle = join(projectDirectory, "bundle");
const csvFile = "manifests/sampledb-operator.clusterserviceversion.yaml";
const { spec } = parse(readFileSync(join(bundle, csvFile), "utf8"));
const namespace = "operators";
const operators: OperatorProcess[] = [];
let plane: StandaloneControlPlane;

beforeAll(async () => {
  await validatorsProgram();
  plane = await StandaloneControlPlane.start();
  await plane.kubectl("create", "namespace", namespace);
  await apply(...kinds.map(({ plural }) => parse(readFileSync(join(bundle, `manifests/sampledb.io_${plural}.yaml`), "utf8"))));
  await plane.kubectl("wait", "--for=condition=Established", "crd", "--all");
}, 900_000); // the first time the validators are built

afterEach(async () => {
  for (const operator of operators.splice(0)) await operator.stop();
});

afterAll(async () => {
  await plane.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function apply(...objects: readonly object[]): Promise<void> {
  const file = join(directory, "objects.yaml");
  writeFileSync(file, objects.map((object) => stringify(object)).join("---\n"));
  await plane.kubectl("apply", "--server-side", `--filename=${file}`);
}

/** An account with these rights in all namespaces, as OLM grants them to an operator of all; resolves to its kubeconfig. */
async function account(name: string, rules: readonly object[]): Promise<string> {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  await apply(
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules },
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name }, roleRef, subjects: [{ kind: "ServiceAccount", name, namespace }] },
  );
  const token = (await plane.kubectl("create", "token", name, `--namespace=${namespace}`)).trim();
  const config = parse(readFileSync(plane.kubeconfig, "utf8"));
  const file = join(directory, `${name}.kubeconfig`);
  writeFileSync(file, stringify({ ...config, users: config.users.map((user: { name: string }) => ({ ...user, user: { token } })) }));
  return file;
}

const { permissions, clusterPermissions } = spec.install.spec;
const namespacedRights = permissions[0].rules;
const allRights = [...namespacedRights, ...clusterPermissions[0].rules];

/** The flags of the bundle's Deployment, with ports and certificates of this machine. */
function start(kubeconfig: string, flags: readonly string[], environment: Readonly<Record<string, string>> = {}): OperatorProcess {
  const operator = new OperatorProcess(["--health-probe-bind-address=0", "--leader-elect", "--install-policies", ...flags], {
    ...{ KUBECONFIG: kubeconfig, POD_NAMESPACE: namespace, ENABLE_WEBHOOKS: "false" },
    ...environment,
  });
  operators.push(operator);
  return operator;
}

async function reconciling(operator: OperatorProcess): Promise<void> {
  await eventually("the operator reconciles", 60_000, () => {
    if (operator.errors !== "") throw new Error(operator.errors);
    return operator.output.includes("reconciling");
  });
}

const policies = async () =>
  (await plane.kubectl("get", "validatingadmissionpolicy,validatingadmissionpolicybinding", "--output=name")).split("\n").filter(Boolean);

test("the validators of catalogs find nothing", async () => {
  expect(await validateBundle(bundle)).toEqual([]);
});

test("the validators do find what is wrong", async () => {
  const broken = join(directory, "broken");
  cpSync(bundle, broken, { recursive: true });
  const text = readFileSync(join(broken, csvFile), "utf8");
  writeFileSync(join(broken, csvFile), text.replace("categories: Database", "categories: Databases"));
  expect(await validateBundle(broken)).toMatchObject([{ level: "error", message: expect.stringContaining("Databases") }]);
});

test("without the right to install policies the operator works all the same", async () => {
  const operator = start(await account("without", namespacedRights), []);
  await reconciling(operator);
  expect(await policies()).toEqual([]);
  expect(operator.lines.filter(({ msg }) => msg.includes("kubectl apply --server-side --kustomize config/policy"))).toHaveLength(1);
});

test("an operator of some namespaces installs no policies, and serves metrics to those who may read them", async () => {
  const operator = start(await account("some", allRights), ["--metrics-bind-address=127.0.0.1:0"], { WATCH_NAMESPACE: "default" });
  await reconciling(operator);
  expect(await policies()).toEqual([]);
});

test("the rights of the bundle are enough to install the policies, again and again", async () => {
  const kubeconfig = await account("sampledb-operator", allRights);
  for (const _ of ["first", "again"]) {
    const operator = start(kubeconfig, []);
    await reconciling(operator);
    expect(await policies()).toHaveLength(installed.length);
    await operator.stop();
  }
});

test("without match conditions a metadata-only change passes, and a mistake is refused", async () => {
  const now = new Date();
  const hour = 3_600_000;
  const authority = await createAuthority({ commonName: "olm", lifetimeMs: hour, now });
  const subject = { commonName: "webhooks", ipAddresses: ["127.0.0.1"], usages: ["server"] as const };
  const certificate = await issueCertificate(authority, { ...subject, lifetimeMs: hour, now });
  writeFileSync(join(directory, "tls.crt"), certificate.certificate);
  writeFileSync(join(directory, "tls.key"), certificate.key);

  await apply({
    apiVersion: "sampledb.io/v1alpha1",
    kind: "SampleDB",
    metadata: { name: "wrong", namespace: "default" },
    spec: { replicas: 1, postgresVersion: 17, storage: { size: "1Gi" }, postgresql: { parameters: { wrok_mem: "4MB" } } },
  }); // before there is a webhook

  const port = await freePort();
  const webhooks = spec.webhookdefinitions.map((definition: Record<string, unknown>) => ({
    name: definition["generateName"],
    clientConfig: {
      url: `https://127.0.0.1:${port}${definition["webhookPath"]}`,
      caBundle: Buffer.from(authority.certificate).toString("base64"),
    },
    ...Object.fromEntries(
      ["rules", "failurePolicy", "sideEffects", "admissionReviewVersions", "timeoutSeconds"].map((key) => [key, definition[key]]),
    ),
  }));
  await apply({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "olm" },
    webhooks,
  });
  const flags = [`--webhook-cert-dir=${directory}`, `--webhook-bind-address=127.0.0.1:${port}`];
  const operator = start(await account("sampledb-operator", allRights), flags, { ENABLE_WEBHOOKS: "true" });
  await reconciling(operator);

  const change = (replicas: number) =>
    plane.kubectl("patch", "sampledb", "wrong", "--namespace=default", "--type=merge", `--patch={"spec":{"replicas":${replicas}}}`);
  let replicas = 1;
  await eventually("a mistake is refused", 30_000, () => {
    replicas = (replicas % 5) + 1; // another change each time: the API server may not know the webhooks yet
    return change(replicas).then(
      () => false,
      (error: Error) => error.message.includes("wrok_mem"),
    );
  });
  await plane.kubectl("label", "sampledb", "wrong", "--namespace=default", "team=a");
  await operator.stop();
  operators.length = 0;
  await change(7); // nobody answers, and nothing is held up
});

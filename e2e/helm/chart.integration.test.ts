// The chart: equal to config/default, what it refuses, and its life on an API server without nodes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { OperatorProcess } from "../../operator/operator-process.fixture.ts";
import type { Manifest } from "../../packaging/config.ts";
import { isOfTheCluster } from "../../packaging/permissions.ts";
import { eventually } from "../../tools/eventually.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { Helm, helmProgram } from "./helm.ts";

const directory = mkdtempSync(join(tmpdir(), "sampledb-helm-"));
const release = { name: "sampledb-operator", namespace: "sampledb-system" };
const config = join(projectDirectory, "config");
const samples = join(config, "samples");
const { version } = JSON.parse(readFileSync(join(projectDirectory, "package.json"), "utf8")) as { version: string };
const offline = new Helm(directory);
let plane: StandaloneControlPlane;
let helm: Helm;

beforeAll(async () => {
  await helmProgram();
  plane = await StandaloneControlPlane.start();
  helm = new Helm(directory, plane);
}, 900_000); // the first time Helm is built

afterAll(async () => {
  await plane.stop();
  rmSync(directory, { recursive: true, force: true });
});

function objects(text: string): Map<string, Manifest> {
  const found = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
  return new Map(
    found.flatMap((object) => (object ? [[`${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, object]] : [])),
  );
}

const rendered = async (...options: string[]) => objects(await offline.chart("template", release, ...options));
/** The names of what outlives the operator, as kubectl prints them. */
async function staying(): Promise<string[]> {
  const kinds = new Map([
    ["CustomResourceDefinition", "customresourcedefinition.apiextensions.k8s.io"],
    ["ValidatingAdmissionPolicy", "validatingadmissionpolicy.admissionregistration.k8s.io"],
    ["ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybinding.admissionregistration.k8s.io"],
  ]);
  const names = [...(await kustomized("crd")).values(), ...(await kustomized("policy")).values()];
  return names.map(({ kind, metadata }) => `${kinds.get(kind)}/${metadata.name}`).sort();
}

const kustomized = async (folder: string) => objects(await plane.kubectl("kustomize", join(config, folder)));

/** What the chart adds to an object that outlives it. */
function withoutKeep(object: Manifest): Manifest {
  const { "helm.sh/resource-policy": _, ...others } = object.metadata.annotations ?? {};
  const { annotations, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(others).length > 0 ? { ...metadata, annotations: others } : metadata };
}

/** What is in the cluster of ours, of the kinds that belong to no namespace and of the operator's own namespace. */
async function present(): Promise<string[]> {
  const kinds =
    "crd,validatingadmissionpolicy,validatingadmissionpolicybinding,validatingwebhookconfiguration,clusterrole,clusterrolebinding";
  const ofTheCluster = await plane.kubectl("get", kinds, "--output=name");
  const own = await plane.kubectl(
    "get",
    "deployment,service,serviceaccount,role,rolebinding",
    `--namespace=${release.namespace}`,
    "--output=name",
  );
  return [...ofTheCluster.split("\n"), ...own.split("\n")].filter((name) => name.includes("sampledb")).sort();
}

const accountName = `system:serviceaccount:${release.namespace}:sampledb-operator`;
const may = (namespace: string, verb: string, resource: string) =>
  plane.kubectl("auth", "can-i", verb, resource, `--namespace=${namespace}`, `--as=${accountName}`).then(
    () => true,
    () => false,
  );

async function applyCrds(): Promise<void> {
  await plane.kubectl("apply", "--server-side", "--force-conflicts", "--kustomize", join(config, "crd"));
  await plane.kubectl("wait", "--for=condition=Established", "crd", "--all");
}

/** The operator's rights, as its Pod has them. */
async function kubeconfigOfAccount(): Promise<string> {
  const token = (await plane.kubectl("create", "token", "sampledb-operator", `--namespace=${release.namespace}`)).trim();
  const config = parse(readFileSync(plane.kubeconfig, "utf8"));
  return stringify({ ...config, users: config.users.map(({ name }: { name: string }) => ({ name, user: { token } })) });
}

test("with its defaults the chart is config/default, object by object", async () => {
  const chart = await rendered();
  const expected = await kustomized("default");
  expected.delete(`Namespace /${release.namespace}`); // Helm makes it
  expect([...chart.keys()].sort()).toEqual([...expected.keys()].sort());
  const wholeNames = (text: string) =>
    text
      .replace('"sampledb/operator"', `"localhost/sampledb/operator:${version}"`)
      .replace(/"(sampledb\/postgres:\d+)"/g, '"localhost/$1"');
  for (const [identity, object] of expected) {
    expect(withoutKeep(chart.get(identity) as Manifest), identity).toEqual(JSON.parse(wholeNames(JSON.stringify(object))));
  }
});

test("what holds databases stays after an uninstall, and no other object", async () => {
  const kept = [...(await rendered())].filter(([, { metadata }]) => metadata.annotations?.["helm.sh/resource-policy"] === "keep");
  expect(new Set(kept.map(([, { kind }]) => kind))).toEqual(
    new Set(["CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]),
  );
});

test("every value reaches what it is for", async () => {
  const values = [
    `image.digest=sha256:${"a".repeat(64)}`,
    "postgresImages.17=registry.example.com/postgres:17",
    "replicas=3",
    "podMonitorLabels.release=prometheus",
    "networkPolicy.enabled=true",
    "metrics.serviceMonitor.enabled=true",
    "metrics.serviceMonitor.labels.release=prometheus",
    "metrics.serviceMonitor.account.name=scraper",
    "resources.limits.memory=1Gi",
    "scheduling.nodeSelector.disk=ssd",
    "scheduling.priorityClassName=system-cluster-critical",
    "imagePullSecrets[0].name=pull",
    "extraArgs={--log-level=debug}",
    "extraEnv[0].name=NODE_OPTIONS",
    "extraEnv[0].value=--trace-warnings",
    "webhooks.enabled=false",
  ];
  const chart = await rendered(...values.map((value) => `--set=${value}`));
  const deployment = chart.get(`Deployment ${release.namespace}/sampledb-operator`) as Manifest & { spec: never };
  expect(deployment).toMatchObject({
    spec: {
      replicas: 3,
      template: {
        spec: {
          nodeSelector: { disk: "ssd" },
          priorityClassName: "system-cluster-critical",
          imagePullSecrets: [{ name: "pull" }],
          containers: [
            {
              image: `localhost/sampledb/operator@sha256:${"a".repeat(64)}`,
              args: expect.arrayContaining(["--pod-monitor-labels=release=prometheus", "--log-level=debug"]),
              env: expect.arrayContaining([
                { name: "RELATED_IMAGE_POSTGRES_17", value: "registry.example.com/postgres:17" },
                { name: "ENABLE_WEBHOOKS", value: "false" },
                { name: "NODE_OPTIONS", value: "--trace-warnings" },
              ]),
              resources: { limits: { memory: "1Gi" } },
            },
          ],
        },
      },
    },
  });
  expect(chart.get(`ServiceMonitor ${release.namespace}/sampledb-operator`)?.metadata.labels).toMatchObject({ release: "prometheus" });
  expect(chart.get(`PrometheusRule ${release.namespace}/sampledb`)?.metadata.labels).toMatchObject({ release: "prometheus" });
  expect(chart.get("ClusterRoleBinding /sampledb-metrics-reader")).toMatchObject({ subjects: [{ name: "scraper" }] });
  expect(chart.get(`NetworkPolicy ${release.namespace}/sampledb-operator`)).toMatchObject({
    spec: { ingress: [{ ports: [{ port: "webhooks" }, { port: "metrics" }, { port: "health" }] }] },
  });
  expect([...chart.keys()].filter((identity) => /webhook/i.test(identity))).toEqual([]);
});

describe("one sentence, before anything is written, for", () => {
  test.each([
    ["an unknown value", ["--set=replica=3"], "additional properties 'replica' not allowed"],
    ["a mistyped value", ["--set-string=replicas=three"], "at '/replicas': got string, want integer"],
    [
      "an older Kubernetes",
      ["--kube-version=1.29.9"],
      "chart requires kubeVersion: >=1.30.0-0 which is incompatible with Kubernetes v1.29.9",
    ],
    ["an image told twice", ["--set=image.tag=v1", `--set=image.digest=sha256:${"a".repeat(64)}`], "image.tag and image.digest both say"],
    ["a flag told twice", ["--set=extraArgs={--leader-elect}"], "extraArgs has --leader-elect, which the chart sets itself: leave it out"],
    ["a value told as a flag", ["--set=extraArgs={--watch-namespaces=a}"], "which the chart sets itself: set watchNamespaces"],
    ["a variable told twice", ["--set=extraEnv[0].name=WATCH_NAMESPACE"], "extraEnv has WATCH_NAMESPACE, which the chart sets itself"],
    [
      "metrics without the right to ask who reads them",
      ["--set=watchNamespaces={a}", "--set=metrics.serviceMonitor.enabled=true"],
      "metrics.serviceMonitor.enabled needs the whole cluster",
    ],
  ])("%s", async (_, options, sentence) => {
    await expect(offline.chart("template", release, ...options)).rejects.toThrow(sentence);
  });
});

test("the operator's rights are parted as the API server knows its resources", async () => {
  const role = (await kustomized("default")).get("ClusterRole /sampledb-operator") as Manifest & {
    rules: { apiGroups: string[]; resources: string[] }[];
  };
  await applyCrds();
  const known = async (namespaced: boolean) =>
    (await plane.kubectl("api-resources", `--namespaced=${namespaced}`, "--output=name")).split("\n");
  const ofTheCluster = new Set(await known(false));
  const ofNamespaces = new Set(await known(true));
  for (const { apiGroups, resources } of role.rules) {
    for (const resource of resources) {
      const name = [resource.split("/")[0], apiGroups[0]].filter(Boolean).join(".");
      const isKnown = ofTheCluster.has(name) || ofNamespaces.has(name); // PodMonitors come with the Prometheus operator
      if (isKnown) expect(isOfTheCluster(apiGroups[0] ?? "", resource), name).toBe(ofTheCluster.has(name));
    }
  }
  await plane.kubectl("delete", "--kustomize", join(config, "crd"));
});

test("install, upgrade, uninstall, reinstall: kinds, policies and databases stay", { timeout: 300_000 }, async () => {
  const withoutWebhooks = "--set=webhooks.enabled=false"; // nobody answers them here
  await helm.chart("install", release, "--create-namespace", withoutWebhooks);
  await plane.kubectl("wait", "--for=condition=Established", "crd", "--all");
  await plane.kubectl("apply", "--namespace=default", `--filename=${join(samples, "sampledb_minimal.yaml")}`);
  const uid = () => plane.kubectl("get", "sampledbs", "--all-namespaces", "--output=jsonpath={.items[*].metadata.uid}");
  const database = await uid();
  expect(database).not.toBe("");

  await helm.chart("upgrade", release, "--set=replicas=3");
  const replicas = () =>
    plane.kubectl("get", "deployment", "sampledb-operator", `--namespace=${release.namespace}`, "--output=jsonpath={.spec.replicas}");
  expect(await replicas()).toBe("3");
  expect(await present()).toContain("validatingwebhookconfiguration.admissionregistration.k8s.io/sampledb-validating-webhooks");

  const second = { name: "second", namespace: "elsewhere" };
  await expect(helm.chart("install", second, "--create-namespace")).rejects.toThrow(
    "release sampledb-operator in namespace sampledb-system looks after all namespaces of this cluster",
  );
  await helm.uninstall(release);
  expect(await present()).toEqual(await staying());
  expect(await uid()).toBe(database);

  await helm.chart("install", release);
  expect(await present()).toEqual(expect.arrayContaining([...(await staying()), "deployment.apps/sampledb-operator"]));
  expect(await uid()).toBe(database);
  await helm.uninstall(release);
});

test("CRDs of OLM are left to OLM", async () => {
  await plane.kubectl("label", "crd", "sampledbs.sampledb.io", "olm.managed=true");
  await expect(helm.chart("install", release)).rejects.toThrow("the CRDs of sampledb.io belong to OLM");
  await plane.kubectl("label", "crd", "sampledbs.sampledb.io", "olm.managed-");
});

test("what kubectl applied is Helm's with --take-ownership, and refused without", async () => {
  await plane.kubectl("annotate", "crd", "--all", "meta.helm.sh/release-name-", "meta.helm.sh/release-namespace-");
  await plane.kubectl("apply", "--server-side", "--force-conflicts", "--kustomize", join(config, "default"));
  await expect(helm.chart("install", release)).rejects.toThrow("exists and cannot be imported into the current release");
  const elsewhere = { ...release, namespace: "elsewhere" };
  await expect(helm.chart("install", elsewhere, "--create-namespace", "--take-ownership")).rejects.toThrow(
    "an operator in namespace sampledb-system looks after all namespaces of this cluster",
  );
  await helm.chart("install", release, "--take-ownership");
  await helm.uninstall(release);
  expect(await present()).toEqual(await staying());
});

test("an operator of some namespaces has a Role in each, and nothing of the cluster", async () => {
  await applyCrds();
  for (const namespace of ["team-a", "team-b"]) await plane.kubectl("create", "namespace", namespace);
  const some = ["--set=watchNamespaces={team-a}", "--set=crds.enabled=false", "--set=policies.enabled=false"];
  await expect(helm.chart("install", release, ...some, "--set=watchNamespaces={team-a,team-z}")).rejects.toThrow(
    "watchNamespaces has team-z, and there is no such namespace: create it first",
  );
  await helm.chart("install", release, "--create-namespace", ...some);
  const names = await present();
  expect(names.filter((name) => /clusterrole|webhook/.test(name))).toEqual([]);
  expect(await may("team-a", "patch", "sampledbs.sampledb.io")).toBe(true);
  expect(await may("team-b", "get", "sampledbs.sampledb.io")).toBe(false);
  const read = (namespace: string) => plane.kubectl("get", "namespace", namespace, "--output=name", `--as=${accountName}`);
  expect(await read("team-a")).toBe("namespace/team-a\n");
  await expect(read("team-b")).rejects.toThrow("forbidden");
  expect(await may(release.namespace, "create", "leases.coordination.k8s.io")).toBe(true);

  const account = join(directory, "account.kubeconfig");
  writeFileSync(account, await kubeconfigOfAccount());
  const flags = ["--leader-elect", "--health-probe-bind-address=0", "--watch-namespaces=team-a", "--install-policies"];
  const environment = { KUBECONFIG: account, POD_NAMESPACE: release.namespace, ENABLE_WEBHOOKS: "false" };
  const withMetrics = new OperatorProcess([...flags, "--metrics-bind-address=:0"], environment);
  expect(await withMetrics.ended).toBe(1);
  expect(withMetrics.errors).toMatch(/^sampledb-operator: with --watch-namespaces .*--metrics-bind-address=0\n$/);
  const operator = new OperatorProcess(flags, environment);
  try {
    await plane.kubectl("apply", "--namespace=team-a", `--filename=${join(samples, "sampledb_minimal.yaml")}`);
    const made = () => plane.kubectl("get", "statefulsets", "--namespace=team-a", "--output=name");
    await eventually("the operator makes a database with those rights", 60_000, async () => {
      if (operator.errors !== "") throw new Error(operator.errors);
      return (await made()) !== "";
    });
    expect(operator.output).toContain("looking after some namespaces alone");
    expect(operator.output).toContain("kubectl apply --server-side --kustomize config/policy");
  } finally {
    await operator.stop();
  }
  await helm.uninstall(release);
});

test("kustomize has the same for the namespace of the operator itself", async () => {
  await applyCrds();
  await plane.kubectl("apply", "--server-side", "--force-conflicts", "--kustomize", join(config, "namespaced"));
  expect((await present()).filter((name) => /clusterrole|webhook|metrics/.test(name))).toEqual([]);
  expect(await may(release.namespace, "patch", "sampledbs.sampledb.io")).toBe(true);
  expect(await may("team-a", "get", "sampledbs.sampledb.io")).toBe(false);
});

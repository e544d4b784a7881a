// make install and uninstall, and the roles for people.
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programsDirectory } from "../e2e/cluster/programs.ts";
import { StandaloneControlPlane } from "../e2e/cluster/standalone.ts";
import { run } from "../tools/command.ts";
import { eventually } from "../tools/eventually.ts";
import { kinds } from "./kinds.ts";

const project = dirname(import.meta.dirname);

let plane: StandaloneControlPlane;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  await make("install");
  for (const { singular } of kinds) {
    await plane.kubectl("apply", "--server-side", "--filename", join(project, `config/rbac/${singular}_roles.yaml`));
  }
});

afterAll(() => plane.stop());

/** Resolves to its output. */
async function make(target: string): Promise<string> {
  const env = { KUBECONFIG: plane.kubeconfig, PATH: `${await programsDirectory()}:${process.env["PATH"]}` };
  return run("make", ["--no-print-directory", "--directory", project, target], { env });
}

async function objects(kinds: string): Promise<string[]> {
  return (await plane.kubectl("get", kinds, "--output=name")).trim().split("\n").filter(Boolean);
}

const definitions = () => objects("crd");
const policies = () => objects("validatingadmissionpolicies,validatingadmissionpolicybindings");

test.each([
  ["viewer", { get: true, create: false, delete: false, "patch status": false }],
  ["editor", { get: true, create: true, delete: true, "patch status": false }],
  ["admin", { get: true, create: true, delete: true, "patch status": true }],
])("the role %s allows what its name says", async (role, expected) => {
  for (const { singular, plural } of kinds.filter(({ kind }) => role !== "editor" || kind !== "Restore")) {
    await plane.kubectl("create", "rolebinding", `${singular}-${role}`, `--clusterrole=sampledb-${singular}-${role}`, `--user=${role}`);
    const can = async (verb: string, ...subresource: string[]) => {
      const answer = await plane.kubectl("auth", "can-i", verb, `${plural}.sampledb.io`, ...subresource, `--as=${role}`).catch(() => "no");
      return answer.trim() === "yes";
    };
    expect({
      get: await can("get"),
      create: await can("create"),
      delete: await can("delete"),
      "patch status": await can("patch", "--subresource=status"),
    }).toEqual(expected);
  }
});

/** What this user may do with each kind. */
async function rights(user: string, ...verbs: readonly string[]): Promise<Record<string, string>> {
  const can = async (verb: string, plural: string) =>
    (await plane.kubectl("auth", "can-i", verb, `${plural}.sampledb.io`, `--as=${user}`).catch(() => "no")).trim() === "yes";
  const found: Record<string, string> = {};
  for (const { plural } of kinds) {
    const allowed: string[] = [];
    for (const verb of verbs) if (await can(verb, plural)) allowed.push(verb);
    found[plural] = allowed.join(" ");
  }
  return found;
}

const verbs = ["get", "create", "patch", "delete"] as const;

test.each([
  ["backup-operator", { sampledbs: "get", backups: "get create", restores: "get" }],
  ["restore-operator", { sampledbs: "get", backups: "get", restores: "get create delete" }],
])("the role %s makes objects of its kind, sees the others, and changes nothing else", async (role, expected) => {
  await plane.kubectl("create", "rolebinding", role, `--clusterrole=sampledb-${role}`, `--user=${role}`);
  expect(await rights(role, ...verbs)).toEqual(expected);
  const secrets = await plane.kubectl("auth", "can-i", "get", "secrets", `--as=${role}`).catch(() => "no");
  expect(secrets.trim()).toBe("no");
});

test("the cluster's edit makes Backups and no Restores; its admin makes both", async () => {
  for (const role of ["edit", "admin", "view"])
    await plane.kubectl("create", "rolebinding", `of-${role}`, `--clusterrole=${role}`, `--user=of-${role}`);
  // The controller-manager joins the roles after a moment.
  await eventually("the roles have been joined", 60_000, async () => (await rights("of-admin", "create"))["restores"] === "create");
  const everything = verbs.join(" ");
  await eventually("edit has been joined", 60_000, async () => (await rights("of-edit", "create"))["backups"] === "create");
  expect(await rights("of-edit", ...verbs)).toEqual({ sampledbs: everything, backups: everything, restores: "get" });
  expect(await rights("of-view", "create", "patch", "delete")).toEqual({ sampledbs: "", backups: "", restores: "" });
});

test("install can be repeated, and uninstall removes every kind; a second uninstall finds nothing to do", async () => {
  await make("install");
  expect(await definitions()).toHaveLength(kinds.length);
  expect(await policies()).toHaveLength(10); // five policies, with a binding each
  await make("uninstall");
  expect(await definitions()).toEqual([]);
  expect(await policies()).toEqual([]);
  expect(await make("uninstall")).toBe("");
});

test("uninstall repeats the deletion of a definition that does not go", async () => {
  await make("install");
  const [definition = ""] = await definitions();
  const setFinalizers = (finalizers: string[]) =>
    plane.kubectl("patch", definition, "--type=merge", `--patch=${JSON.stringify({ metadata: { finalizers } })}`);
  await setFinalizers(["example.com/keep"]);
  const uninstalled = make("uninstall");
  await eventually("the definition was changed", 60_000, async () =>
    (await plane.kubectl("get", definition, "--output=jsonpath={.metadata.annotations}")).includes("sampledb.io/uninstall-attempt"),
  );
  await setFinalizers([]);
  await uninstalled;
  expect(await definitions()).toEqual([]);
});

// make install, and the roles that people are given.
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programsDirectory } from "../e2e/cluster/programs.ts";
import { StandaloneControlPlane } from "../e2e/cluster/standalone.ts";
import { run } from "../tools/command.ts";
import { kinds } from "./kinds.ts";

const project = dirname(import.meta.dirname);

let plane: StandaloneControlPlane;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  await make("install");
  await plane.kubectl("apply", "--server-side", "--filename", join(project, "config/rbac"));
});

afterAll(() => plane.stop());

async function make(target: string): Promise<void> {
  const env = { KUBECONFIG: plane.kubeconfig, PATH: `${await programsDirectory()}:${process.env["PATH"]}` };
  await run("make", ["--directory", project, target], { env });
}

async function definitions(): Promise<string[]> {
  return (await plane.kubectl("get", "crd", "--output=name")).trim().split("\n").filter(Boolean);
}

test.each([
  ["viewer", { get: true, create: false, delete: false, "patch status": false }],
  ["editor", { get: true, create: true, delete: true, "patch status": false }],
  ["admin", { get: true, create: true, delete: true, "patch status": true }],
])("the role %s allows what its name says", async (role, expected) => {
  for (const { singular, plural } of kinds) {
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

test("install can be repeated", async () => {
  await make("install");
  expect(await definitions()).toHaveLength(kinds.length);
});

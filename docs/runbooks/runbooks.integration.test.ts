// The commands of the runbooks on a real API server: each is one that kubectl and the API server understand. Logs need nodes, and are left out.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { backups, sampledbs } from "../../controllers/kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "../../controllers/sampledb/stage.fixture.ts";
import { programsDirectory } from "../../e2e/cluster/programs.ts";
import { startSuite } from "../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../runtime/kube/test-connection.fixture.ts";
import { run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);
const pages = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".md") && name !== "README.md");

beforeAll(() => installKinds(plane, client));

/** Indented blocks, also those of a list, without their indentation. A command may have its input behind it, up to EOF. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(import.meta.dirname, page), "utf8");
  return [...text.matchAll(/^( {4,})kubectl .*?(?:<<EOF\n[\s\S]*?^\1EOF$|$)/gm)].map(([block, indentation = ""]) =>
    block
      .split("\n")
      .map((line) => line.slice(indentation.length))
      .join("\n"),
  );
}

test("every page has commands, and each of them works", async () => {
  await using stage = await DatabaseStage.open("runbooks", client, proxy);
  await stage.run();
  const repository = { volume: { size: "2Gi" } };
  await stage.create({ backup: { repository, schedules: [{ name: "nightly", schedule: "0 3 * * *" }] } });
  const isTold = async () => (await client.get(sampledbs, stage.key("orders"))).status?.schedules;
  await eventually("its schedules are told", 60_000, isTold);
  const spec = { sampleDBName: "orders", type: "Full", deletionPolicy: "Delete" } as const;
  const { apiVersion, kind } = backups;
  await client.create(backups, { apiVersion, kind, metadata: { namespace: stage.namespace, name: "by-hand" }, spec });
  const kubectl = `${await programsDirectory()}/kubectl --namespace=${stage.namespace}`;
  const place = { env: { KUBECONFIG: plane.kubeconfig } };
  for (const page of pages) {
    const commands = commandsOf(page);
    expect(commands.length, page).toBeGreaterThan(1);
    for (const command of commands.filter((text) => !text.includes(" logs "))) {
      const filled = command.replaceAll("NAME", "orders").replaceAll("BACKUP", "by-hand").replaceAll("SIZE", "20Gi");
      const real = filled.replace("custom-columns=orders:", "custom-columns=NAME:").replace(/^kubectl/, kubectl); // a column keeps its name
      await expect(run("bash", ["-c", real], place), `${page}: ${command}`).resolves.toBeDefined();
    }
  }
});

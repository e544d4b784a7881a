// What restart-bootstrap does with a volume whose bootstrap was interrupted, with Patroni's annotation on a real API server.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { freePort } from "../../tools/free-port.ts";
import { InstanceAccount, makeObject } from "./instance-account.fixture.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

let plane: StandaloneControlPlane;
let account: InstanceAccount;
let volume: string;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  account = await InstanceAccount.make(plane, "orders", ["orders-0"]);
});

afterAll(() => plane?.stop());

beforeEach(async () => {
  await plane.request("DELETE", configMaps);
  volume = mkdtempSync(join(plane.directory, "volume-"));
  mkdirSync(join(volume, "data", "base"), { recursive: true });
  writeFileSync(join(volume, "initializing"), "");
});

const restart = (environment: Readonly<Record<string, string>> = {}) =>
  account.run("restart-bootstrap", ["orders"], { HOSTNAME: "orders-0", VOLUME: volume, ...environment });

const makeNote = (annotations: object) => makeObject(plane, configMaps, { metadata: { name: "orders-config", annotations } });

async function notes(): Promise<object> {
  return (await plane.request("GET", `${configMaps}/orders-config`))?.body.metadata.annotations;
}

const left = () => ({ data: existsSync(join(volume, "data")), mark: existsSync(join(volume, "initializing")) });

const ownNote = { initialize: "", initializer: "orders-0" };

test("an interrupted bootstrap of this instance starts again, without data and annotation", async () => {
  await makeNote({ ...ownNote, config: "{}" });
  expect(await restart()).toContain("begun anew");
  expect(left()).toEqual({ data: false, mark: false });
  expect(await notes()).toEqual({ config: "{}" });
});

test("a bootstrap that was interrupted before its first file starts again", async () => {
  rmSync(volume, { recursive: true });
  mkdirSync(volume);
  await makeNote({ ...ownNote, config: "{}" });
  expect(await restart()).toContain("begun anew");
  expect(await notes()).toEqual({ config: "{}" });
});

test.each([
  ["the bootstrap was completed", { initialize: "7300000000000000001", config: "{}" }],
  ["no instance is bootstrapping", { config: "{}" }],
  ["another instance is bootstrapping", { initialize: "", initializer: "orders-1" }],
])("%s: only the mark is removed", async (_, annotations) => {
  await makeNote(annotations);
  expect(await restart()).not.toContain("begun anew");
  expect(left()).toEqual({ data: true, mark: false });
  expect(await notes()).toEqual(annotations);
});

test("without Patroni's ConfigMap, as after a person deleted it, only the mark is removed", async () => {
  await restart();
  expect(left()).toEqual({ data: true, mark: false });
});

test("without an answer of the API server everything stays, and the program fails so that the container restarts", async () => {
  await makeNote(ownNote);
  await expect(restart({ KUBERNETES_SERVICE_PORT: String(await freePort()), SECONDS_TO_TRY: "2" })).rejects.toThrow(/can't be asked/);
  expect(left()).toEqual({ data: true, mark: true });
});

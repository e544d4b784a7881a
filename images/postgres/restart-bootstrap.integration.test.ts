// What becomes of a volume whose bootstrap was cut short, with Patroni's note on a real API server.
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
  account.run("restart-bootstrap", ["orders"], { VOLUME: volume, ...environment });

const makeNote = (annotations: object) => makeObject(plane, configMaps, { metadata: { name: "orders-config", annotations } });

async function notes(): Promise<object> {
  return (await plane.request("GET", `${configMaps}/orders-config`))?.body.metadata.annotations;
}

const left = () => ({ data: existsSync(join(volume, "data")), mark: existsSync(join(volume, "initializing")) });

test("somebody was at it, and it was this one: begun anew, with the note taken back", async () => {
  await makeNote({ initialize: "", config: "{}" });
  expect(await restart()).toContain("begun anew");
  expect(left()).toEqual({ data: false, mark: false });
  expect(await notes()).toEqual({ config: "{}" });
});

test.each([
  ["it was done after all", { initialize: "7300000000000000001", config: "{}" }],
  ["nobody is said to be at it", { config: "{}" }],
])("%s: nothing is removed but the mark", async (_, annotations) => {
  await makeNote(annotations);
  expect(await restart()).toContain("it was done already");
  expect(left()).toEqual({ data: true, mark: false });
  expect(await notes()).toEqual(annotations);
});

test("somebody is at it, and it is another: where there is no data, Patroni has taken this one's note back itself", async () => {
  rmSync(join(volume, "data"), { recursive: true });
  mkdirSync(join(volume, "data"));
  await makeNote({ initialize: "" });
  expect(await restart()).toContain("not by this instance");
  expect(left()).toEqual({ data: true, mark: false });
  expect(await notes()).toEqual({ initialize: "" });
});

test("there is no note at all, as where a person has deleted it: nothing is removed but the mark", async () => {
  await restart();
  expect(left()).toEqual({ data: true, mark: false });
});

test("an API server that can't be asked: everything stays, and the container is started again", async () => {
  await makeNote({ initialize: "" });
  await expect(restart({ KUBERNETES_SERVICE_PORT: String(await freePort()), SECONDS_TO_TRY: "2" })).rejects.toThrow(
    /can't be asked about it/,
  );
  expect(left()).toEqual({ data: true, mark: true });
});

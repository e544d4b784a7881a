import { expect, test } from "vitest";
import { instance } from "../../database/instance.fixture.ts";
import { ClusterSettings } from "../../patroni/state.ts";
import { observed } from "../observations.fixture.ts";
import { allArchive, someArchive } from "./archive-mode.ts";

const settings = (mode: "on" | "off") => {
  const config = JSON.stringify({ postgresql: { parameters: { archive_mode: mode } } });
  return new ClusterSettings({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "orders-config", annotations: { config } } });
};
const patroni = (mode: "on" | "off") => ({ settings: settings(mode), lock: undefined, order: undefined, synchrony: undefined });
const pending = { pendingRestart: [{ name: "archive_mode", from: "off", to: "on" }] };

test.each([
  ["on, and all have restarted", "on", {}, true, true],
  ["on, and one has yet to restart", "on", pending, false, true],
  ["on by a newer operator, and held until a person orders a restart", "on", { heldSettings: ["archive_mode"] }, false, true],
  ["on, and one waits for another setting", "on", { pendingRestart: [{ name: "max_connections", from: "1", to: "2" }] }, true, true],
  ["off, and one still archives until its restart", "off", pending, false, true],
  ["off, and all have restarted", "off", {}, false, false],
] as const)("archive_mode is %s", (_, mode, told, all, some) => {
  const view = observed([instance(0), instance(1, told)], { patroni: patroni(mode) });
  expect([allArchive(view), someArchive(view)]).toEqual([all, some]);
});

import { describe, expect, test } from "vitest";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { dynamicConfig } from "./configuration.ts";
import { heldNames, heldSettings, settingsNotes } from "./held-settings.ts";
import { sampleDB } from "./sampledb.fixture.ts";

type Spec = Parameters<typeof sampleDB>[0];
type Values = Readonly<Record<string, unknown>>;

/** The settings as they were written for this spec; `older` is what the operator of that time had of its own. */
function written(db: SampleDB, held: readonly string[] = [], older: Values = {}) {
  const { metadata, ...rest } = dynamicConfig(db, {
    since: "then",
    initialized: true,
    notes: settingsNotes({ db, restart: "then" }, held),
  });
  const settings = JSON.parse(metadata.annotations?.["config"] ?? "");
  settings.postgresql.parameters = { ...settings.postgresql.parameters, ...older };
  return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, config: JSON.stringify(settings) } } };
}

const asked = (spec?: Spec, restart = "then") => ({ db: sampleDB(spec), restart });
const asks = (parameters: Record<string, string | number>): Spec => ({ postgresql: { parameters } });
const memory = (size: string): Spec => ({ resources: { limits: { memory: size } } });

describe("what is held back", () => {
  test.each<[string, { before?: Spec; older?: Values; held?: string[]; now?: Spec }, string[]]>([
    ["nothing has changed", {}, []],
    ["another operator, other settings", { older: { max_wal_senders: 10 } }, ["max_wal_senders"]],
    ["one that the last had and this one has not", { older: { shared_preload_libraries: "x" } }, ["shared_preload_libraries"]],
    ["the user's own, set", { now: asks({ max_connections: 200 }) }, []],
    ["changed", { before: asks({ max_connections: 200 }), now: asks({ max_connections: 300 }) }, []],
    ["taken back", { before: asks({ max_connections: 200 }) }, []],
    ["both at once", { older: { max_wal_senders: 10 }, now: asks({ max_connections: 200 }) }, ["max_wal_senders"]],
    ["held before, and something else is asked for", { held: ["max_wal_senders"], now: asks({ work_mem: "8MB" }) }, ["max_wal_senders"]],
    ["held before, and asked for now", { held: ["max_wal_senders"], now: asks({ max_wal_senders: 30 }) }, []],
    ["more memory", { before: memory("1Gi"), now: memory("2Gi") }, []],
    [
      "the same memory, of which another part is taken",
      { before: memory("1Gi"), older: { shared_buffers: "1MB" }, now: memory("1Gi") },
      ["shared_buffers"],
    ],
  ])("%s", (_, { before, older, held, now }, expected) => {
    expect(heldSettings(written(sampleDB(before), held, older), asked(now))).toEqual(expected);
  });

  test.each(["config", "sampledb.io/settings-asked"])("garbage in %s says nothing", (annotation) => {
    const { metadata, ...rest } = written(sampleDB(), ["max_wal_senders"]);
    for (const garbage of ["{", "null", "[]", "7"]) {
      const live = { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, [annotation]: garbage } } };
      expect(heldSettings(live, asked())).toEqual(["max_wal_senders"]);
    }
  });

  test("nothing of a database that is new", () => {
    expect(heldSettings(undefined, asked())).toEqual([]);
  });

  test("what an operator has written that took no notes: all that the user has set counts as asked for", () => {
    const { metadata, ...rest } = written(sampleDB(), [], { max_wal_senders: 10 });
    const { "sampledb.io/settings-asked": _, ...annotations } = metadata.annotations as Record<string, string>;
    const live = { ...rest, metadata: { ...metadata, annotations } };
    expect(heldSettings(live, asked(asks({ max_connections: 200 })))).toEqual(["max_wal_senders"]);
  });

  test("no setting that follows from any field of the spec which the user has changed", () => {
    // As with archiving one day: it follows from spec.backup, and from nothing that is called a setting.
    const parametersOf = ({ spec }: Pick<SampleDB, "spec">) => ({ archive_mode: spec.backup ? "on" : "off" });
    const backup: Spec = { backup: { repository: { volume: { size: "1Gi" } } } };
    const off = written(sampleDB(), [], { archive_mode: "off" });
    expect(heldSettings(off, asked(backup), parametersOf)).not.toContain("archive_mode");
    const on = written(sampleDB(backup), [], { archive_mode: "on" });
    expect(heldSettings(on, asked(), parametersOf)).not.toContain("archive_mode");
    // A newer operator that changes it while the user does not.
    expect(heldSettings(on, asked(backup), () => ({ archive_mode: "always" }))).toContain("archive_mode");
  });

  test("nothing any more when somebody asks for a restart", () => {
    expect(heldSettings(written(sampleDB(), ["max_wal_senders"]), asked({}, "now"))).toEqual([]);
  });
});

test("the names are read as they were written", () => {
  expect(heldNames(undefined)).toEqual([]);
  expect(heldNames(written(sampleDB()))).toEqual([]);
  expect(heldNames(written(sampleDB(), ["max_connections", "max_wal_senders"]))).toEqual(["max_connections", "max_wal_senders"]);
});

import { describe, expect, test } from "vitest";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { dynamicConfig } from "./configuration.ts";
import { heldNames, heldSettings, settingsNotes } from "./held-settings.ts";
import { sampleDB } from "./sampledb.fixture.ts";

type Spec = Parameters<typeof sampleDB>[0];
type Values = Readonly<Record<string, unknown>>;

/** The settings as an operator wrote them for this spec. `older` are that operator's own values where they differ from the present ones. */
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

describe("held settings", () => {
  test.each<[string, { before?: Spec; older?: Values; held?: string[]; now?: Spec }, string[]]>([
    ["are none when nothing has changed", {}, []],
    ["have a setting that this operator makes differently", { older: { max_wal_senders: 10 } }, ["max_wal_senders"]],
    [
      "have a setting that the earlier operator had and this one has not",
      { older: { shared_preload_libraries: "x" } },
      ["shared_preload_libraries"],
    ],
    ["lack a setting that the user has set", { now: asks({ max_connections: 200 }) }, []],
    ["lack a setting that the user has changed", { before: asks({ max_connections: 200 }), now: asks({ max_connections: 300 }) }, []],
    ["lack a setting that the user has taken back", { before: asks({ max_connections: 200 }) }, []],
    [
      "have only the operator's setting when user and operator changed one each",
      { older: { max_wal_senders: 10 }, now: asks({ max_connections: 200 }) },
      ["max_wal_senders"],
    ],
    [
      "still have one from before when the user changes another setting",
      { held: ["max_wal_senders"], now: asks({ work_mem: "8MB" }) },
      ["max_wal_senders"],
    ],
    ["lose one from before when the user sets it", { held: ["max_wal_senders"], now: asks({ max_wal_senders: 30 }) }, []],
    ["lack shared_buffers when the user gives more memory", { before: memory("1Gi"), now: memory("2Gi") }, []],
    [
      "have shared_buffers when this operator takes another part of the same memory",
      { before: memory("1Gi"), older: { shared_buffers: "1MB" }, now: memory("1Gi") },
      ["shared_buffers"],
    ],
  ])("%s", (_, { before, older, held, now }, expected) => {
    expect(heldSettings(written(sampleDB(before), held, older), asked(now))).toEqual(expected);
  });

  test.each(["config", "sampledb.io/settings-asked"])("stay as they were when %s is garbage", (annotation) => {
    const { metadata, ...rest } = written(sampleDB(), ["max_wal_senders"]);
    for (const garbage of ["{", "null", "[]", "7"]) {
      const live = { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, [annotation]: garbage } } };
      expect(heldSettings(live, asked())).toEqual(["max_wal_senders"]);
    }
  });

  test("are none in a new database", () => {
    expect(heldSettings(undefined, asked())).toEqual([]);
  });

  test("lack every setting of the user when an older operator left no note of the user's words", () => {
    const { metadata, ...rest } = written(sampleDB(), [], { max_wal_senders: 10 });
    const { "sampledb.io/settings-asked": _, ...annotations } = metadata.annotations as Record<string, string>;
    const live = { ...rest, metadata: { ...metadata, annotations } };
    expect(heldSettings(live, asked(asks({ max_connections: 200 })))).toEqual(["max_wal_senders"]);
  });

  test("lack a setting that follows from any field of the spec that the user changed", () => {
    // As archiving will: it follows from spec.backup, and the user sets no parameter for it.
    const parametersOf = ({ spec }: Pick<SampleDB, "spec">) => ({ archive_mode: spec.backup ? "on" : "off" });
    const backup: Spec = { backup: { repository: { volume: { size: "1Gi" } } } };
    const off = written(sampleDB(), [], { archive_mode: "off" });
    expect(heldSettings(off, asked(backup), parametersOf)).not.toContain("archive_mode");
    const on = written(sampleDB(backup), [], { archive_mode: "on" });
    expect(heldSettings(on, asked(), parametersOf)).not.toContain("archive_mode");
    // A newer operator that changes it while the user does not.
    expect(heldSettings(on, asked(backup), () => ({ archive_mode: "always" }))).toContain("archive_mode");
  });

  test("are none after the user orders a restart", () => {
    expect(heldSettings(written(sampleDB(), ["max_wal_senders"]), asked({}, "now"))).toEqual([]);
  });
});

test("the names of held settings are read back as they were written", () => {
  expect(heldNames(undefined)).toEqual([]);
  expect(heldNames(written(sampleDB()))).toEqual([]);
  expect(heldNames(written(sampleDB(), ["max_connections", "max_wal_senders"]))).toEqual(["max_connections", "max_wal_senders"]);
});

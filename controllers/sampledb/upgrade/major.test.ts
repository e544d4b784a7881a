import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { majorAnnotation } from "../../../api/annotations.ts";
import { checkSampleDB } from "../../../api/checks/sampledb.ts";
import { settingsOf } from "../../../api/postgresql/settings.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { ConfigMap } from "../../kinds/kubernetes.ts";
import { ClusterSettings } from "../../patroni/state.ts";
import { Choices } from "../change/choices.ts";
import { observed } from "../observations.fixture.ts";
import { heldBack } from "./major.ts";

type Spec = NonNullable<Parameters<typeof sampleDB>[0]>;
type Settings = NonNullable<NonNullable<Spec["postgresql"]>["parameters"]>;

const hba = ["host all all 10.0.0.0/8 scram-sha-256"];

/** The database that asks for this spec, with data of that major. */
function onData(major: number, spec: Spec, initialized = true, bootstrapping = false) {
  const object = { metadata: { name: "orders-config", annotations: { [majorAnnotation]: String(major) } } } as unknown as ConfigMap;
  const { patroni } = observed([]);
  return heldBack(sampleDB(spec), { patroni: { ...patroni, settings: new ClusterSettings(object) }, initialized, bootstrapping });
}

describe("with data of the asked major, or without data, the spec is acted on as it is", () => {
  const spec: Spec = { postgresVersion: 17, postgresql: { parameters: { summarize_wal: "on" } } };
  test.each<[string, ReturnType<typeof onData>]>([
    ["data of the same major", onData(17, spec)],
    ["no data yet", onData(15, spec, false)],
    ["nothing written yet", heldBack(sampleDB(spec), observed([]))],
  ])("%s", (_, held) => expect(held).toEqual({ db: sampleDB(spec) }));
});

test("a major that is raised while the first instance makes the data is held back: the data is of the major that was noted", () => {
  const { db, upgrade } = onData(15, { postgresVersion: 17 }, false, true);
  expect(db.spec.postgresVersion).toBe(15);
  expect(upgrade?.reason).toBe("UpgradeNotSupported");
});

test("where the note of the major is garbage, the version of the last primary tells it", () => {
  const object = { metadata: { name: "orders-config", annotations: { [majorAnnotation]: "garbage" } } } as unknown as ConfigMap;
  const view = { patroni: { ...observed([]).patroni, settings: new ClusterSettings(object) }, initialized: true, bootstrapping: false };
  const db = { ...sampleDB({ postgresVersion: 17 }), status: { postgresVersion: "15.18" } };
  expect(heldBack(db, view).db.spec.postgresVersion).toBe(15);
  expect(heldBack(sampleDB({ postgresVersion: 17 }), view).upgrade).toBeUndefined();
});

describe("a raised major is acted on as the spec from before, with the same digests", () => {
  test.each<[string, Spec["postgresql"], Spec["postgresql"], string[]]>([
    ["and nothing else", undefined, undefined, []],
    ["with settings that both majors take", { parameters: { work_mem: "4MB" } }, { parameters: { work_mem: "4MB" } }, []],
    ["with a setting of the new major", undefined, { parameters: { summarize_wal: "on" } }, ["summarize_wal"]],
    [
      "with a setting of the new major beside others",
      { parameters: { work_mem: "4MB" } },
      { parameters: { summarize_wal: "on", work_mem: "4MB" } },
      ["summarize_wal"],
    ],
    ["with a setting of the new major beside hba lines", { hba }, { hba, parameters: { summarize_wal: "on" } }, ["summarize_wal"]],
    ["with a value that only the new major takes", undefined, { parameters: { maintenance_work_mem: "64kB" } }, ["maintenance_work_mem"]],
    [
      "with several, named in order",
      undefined,
      { parameters: { transaction_timeout: 0, summarize_wal: "on" } },
      ["summarize_wal", "transaction_timeout"],
    ],
    ["with connections that only the new major reserves", undefined, { parameters: { reserved_connections: 5 } }, ["reserved_connections"]],
    ["with an extension's setting", { parameters: { "pg_cron.a": 1 } }, { parameters: { "pg_cron.a": 1 } }, []],
  ])("%s", (_, before, asked, waiting) => {
    const was = sampleDB({ postgresVersion: 15, ...(before ? { postgresql: before } : {}) });
    const { db, upgrade } = onData(15, { postgresVersion: 17, ...(asked ? { postgresql: asked } : {}) });
    expect(db).toEqual(was);
    expect(digestsOf(db.spec)).toEqual(digestsOf(was.spec));
    expect(upgrade?.reason).toBe("UpgradeNotSupported");
    expect(upgrade?.message).toMatch(/^the data is of PostgreSQL 15, and .* does not upgrade it to 17: it goes on with 15/);
    const [, names] = upgrade?.message.split("wait for the upgrade: ") ?? [];
    expect(names?.split(", ") ?? []).toEqual(waiting);
    expect(upgrade?.remedy).toMatch(
      waiting.length > 0 ? /^set postgresVersion to 15 and take those settings out, / : /^set postgresVersion to 15, /,
    );
  });

  test("a section that was there and empty: nothing is tried again, and no setting changes", () => {
    const was = new Choices(sampleDB({ postgresVersion: 15, postgresql: { parameters: {} } }).spec, images);
    const { db } = onData(15, { postgresVersion: 17, postgresql: { parameters: { summarize_wal: "on" } } });
    const held = new Choices(db.spec, images);
    expect(held.trialDigest).toBe(was.trialDigest);
    expect(held.settings(true)).toBe(was.settings(true));
    expect(held.askedDigest(undefined)).toBe(was.askedDigest(undefined));
  });
});

test("data of a newer major, taken up by a SampleDB of an older one: its settings wait as well", () => {
  const { db, upgrade } = onData(17, { postgresVersion: 15, postgresql: { parameters: { old_snapshot_threshold: "1h" } } });
  expect(db).toEqual(sampleDB({ postgresVersion: 17 }));
  expect(upgrade?.message).toContain("old_snapshot_threshold");
});

test("a setting that both majors refuse is not said to wait for the upgrade", () => {
  const { upgrade } = onData(15, { postgresVersion: 17, postgresql: { parameters: { wrok_mem: "4MB", summarize_wal: "on" } } });
  expect(upgrade?.message).toMatch(/wait for the upgrade: summarize_wal$/);
});

test("all that is valid for the asked major is acted on as a valid spec", () => {
  const values = [0, 1, 10, 100, 1024, 100_000, "on", "off", "64kB", "1MB", "5min", "none", "text", "logical"];
  const names = fc.constantFrom(...settingsOf(15).keys(), ...settingsOf(17).keys());
  const parameters = fc.dictionary(names, fc.constantFrom(...values), { maxKeys: 20 }).map((made) => ({ ...made }));
  fc.assert(
    fc.property(parameters, fc.constantFrom([15, 17] as const, [17, 15] as const), (made, [major, postgresVersion]) => {
      const valid = validOnly(made, postgresVersion);
      const { db } = onData(major, { postgresVersion, postgresql: { parameters: valid } });
      expect(checkSampleDB(db.spec)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

/** Those that the major takes, by the whole check. */
function validOnly(made: Settings, postgresVersion: 15 | 17): Settings {
  const isValid = (parameters: Settings) => checkSampleDB(sampleDB({ postgresVersion, postgresql: { parameters } }).spec).length === 0;
  const valid = Object.fromEntries(Object.entries(made).filter(([name, value]) => isValid({ [name]: value })));
  return isValid(valid) ? valid : {};
}

const images = { 15: "ours:15", 17: "ours:17" };

function digestsOf(spec: ReturnType<typeof sampleDB>["spec"]) {
  const choices = new Choices(spec, images);
  const { digest, trialDigest, trialAskedDigest } = choices;
  return { digest, trialDigest, trialAskedDigest, settings: choices.settings(true), asked: choices.askedDigest(undefined) };
}

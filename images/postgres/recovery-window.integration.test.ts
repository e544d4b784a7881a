// What the repository tells in /status of what can be restored: with a real PostgreSQL, real backups, and segments that somebody removes.
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Stage, stanza } from "./backup.fixture.ts";

describe.runIf(process.getuid?.() === 0)("the window that the repository tells", () => {
  let stage: Stage;
  let first: string;

  beforeAll(async () => {
    stage = await Stage.start();
    await stage.servePrimary({ SECONDS_BETWEEN_SURVEYS: "0.2", SECONDS_FOR_A_GAP: "1" });
  }, 600_000);
  afterAll(() => stage?.containers.stop());

  const folder = () => stage.containers.path(`store/archive/${stanza}/17-1/0000000100000000`);
  const segments = () => (existsSync(folder()) ? readdirSync(folder()) : []).filter((name) => /^[0-9A-F]{24}-/.test(name));
  const fileOf = (name: string) => segments().find((each) => each.startsWith(name)) ?? "";
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what the program says
  async function window(what: string, holds: (window: any) => boolean): Promise<any> {
    let told: unknown;
    await stage
      .until(what, async () => {
        told = (await stage.status()).window;
        return told !== undefined && holds(told);
      })
      .catch((error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(told)}`);
      });
    return told;
  }
  /** A segment of its own; resolves to its name when it is archived. */
  async function write(): Promise<string> {
    await stage.sql("CREATE TABLE IF NOT EXISTS rows (id int)", "INSERT INTO rows VALUES (1)");
    const name = await stage.sql("SELECT pg_walfile_name(pg_switch_wal())");
    await stage.until(`${name} is archived`, async () => fileOf(name) !== "");
    return name;
  }

  test("has neither beginning nor end before there is a good backup", async () => {
    await write();
    expect(await window("looked at", () => true)).toEqual({
      at: expect.any(String),
      complete: false,
      backupCount: 0,
      gaps: [],
      gapCount: 0,
    });
  });

  test("reaches from the first good backup's end to the newest segment, and moves with it", async () => {
    first = await stage.label({ uid: "first" });
    const newest = await write();
    const told = await window("the newest segment", ({ last }) => last?.name === newest);
    expect(told).toMatchObject({
      complete: true,
      gaps: [],
      timeline: 1,
      backupCount: 1,
      oldest: { label: first },
      first: { label: first },
    });
    expect(Math.abs(Date.parse(told.last.at) - Date.now())).toBeLessThan(60_000);
    expect(told.last.at >= told.first.at).toBe(true);
  });

  test("a segment that is on its way is no gap; one that stays away is, with its name and the last moment before it", async () => {
    const before = await write();
    const [missing, missingToo] = [await write(), await write()];
    await write();
    const aside = stage.containers.path("aside");
    const file = fileOf(missing);
    renameSync(`${folder()}/${file}`, aside);
    const unsure = await window("the end moves back at once", ({ last }) => last.name === before);
    expect(unsure).toMatchObject({ gaps: [], complete: true });
    renameSync(aside, `${folder()}/${file}`);
    await window("it has come", ({ last, complete }) => complete && last.name > missing);

    for (const each of [missing, missingToo]) rmSync(`${folder()}/${fileOf(each)}`);
    const told = await window("the gap is told", ({ gapCount }) => gapCount === 1);
    expect(told).toMatchObject({ complete: false, oldest: { label: first }, first: { label: first }, last: { name: before } });
    expect(told.gaps).toEqual([{ first: missing, last: missingToo, count: 2, before: told.last.at }]);
  });

  test("the next full backup begins another window, and the gap before it is still told", async () => {
    const second = await stage.label({ uid: "second" });
    const newest = await write();
    const told = await window("the end is the newest segment", ({ last }) => last?.name === newest);
    expect(told).toMatchObject({ complete: true, gapCount: 1, oldest: { label: first }, first: { label: second } });
    await stage.run({ task: "expire", label: first });
    expect(await window("the gap is nobody's", ({ gapCount }) => gapCount === 0)).toMatchObject({ oldest: { label: second } });
  });
});

// The API server refuses invalid objects by itself: each refusal names the field and says what is allowed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StandaloneControlPlane } from "../e2e/cluster/standalone.ts";
import { eventually } from "../tools/eventually.ts";
import { badBackups } from "./bad-specs/backup.ts";
import { type BadSpec, type Fields, merged } from "./bad-specs/bad-spec.ts";
import * as valid from "./bad-specs/bases.ts";
import { badRestores } from "./bad-specs/restore.ts";
import { badSampleDBs } from "./bad-specs/sampledb.ts";
import { badBackupSettings } from "./bad-specs/sampledb-backup.ts";
import { badSettings } from "./bad-specs/settings.ts";
import { backupTransitions, restoreTransitions, sampleDBTransitions, type Transition } from "./bad-specs/transitions.ts";
import { apiVersion } from "./version.ts";

type Plural = "sampledbs" | "backups" | "restores";
type Answer = { status: number; body: { message?: string; details?: { causes?: { field: string; message: string }[] } } };

const tables: readonly (readonly [plural: Plural, base: Fields, bad: readonly BadSpec[], transitions: readonly Transition[]])[] = [
  ["sampledbs", valid.sampleDB, [...badSampleDBs, ...badSettings, ...badBackupSettings], sampleDBTransitions],
  ["backups", valid.backup, badBackups, backupTransitions],
  ["restores", valid.restore, badRestores, restoreTransitions],
];

let plane: StandaloneControlPlane;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  await plane.kubectl("apply", "--server-side", "-f", `${import.meta.dirname}/../config/crd/bases`);
  await plane.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s");
  for (const [plural, base] of tables) {
    await eventually(`${plural} are served`, 30_000, async () => (await send("POST", path(plural, "?dryRun=All"), base)).status === 201);
  }
});

afterAll(() => plane.stop());

const path = (plural: Plural, rest: string) => `/apis/${apiVersion}/namespaces/default/${plural}${rest}`;

async function send(method: string, where: string, body: object): Promise<Answer> {
  const answer = await plane.request(method, where, body);
  if (!answer) throw new Error(`nobody answered ${method} ${where}`);
  return answer as Answer;
}

/** The refusal has a line for this field that says what is allowed. */
function expectRefusal({ status, body }: Answer, field: string, allowed: RegExp): void {
  expect({ status, message: body.message }).toEqual({ status: 422, message: expect.stringMatching(/is invalid/) });
  expect(body.details?.causes).toContainEqual(expect.objectContaining({ field, message: expect.stringMatching(allowed) }));
  expect(body.message).toContain(field);
}

test("there are at least 150 bad specs, each with a title of its own", () => {
  const titles = tables.flatMap(([plural, , bad]) => bad.map(([title, , field]) => `${plural} ${field} ${title}`));
  expect(new Set(titles).size).toBe(titles.length);
  expect(titles.length).toBeGreaterThanOrEqual(150);
});

describe.each(tables)("%s", (plural, base, bad, transitions) => {
  test("a valid object is accepted", async () => {
    expect((await send("POST", path(plural, "?dryRun=All"), base)).status).toBe(201);
  });

  test.each(bad)("%s is refused", async (_title, change, field, allowed) => {
    expectRefusal(await send("POST", path(plural, "?dryRun=All"), merged(base, change) as object), field, allowed);
  });

  test.each(transitions)("a change: $title", async ({ title, before, status, change, refused }) => {
    const name = `before-${transitions.findIndex((transition) => transition.title === title)}`;
    const made = await send("POST", path(plural, ""), merged(base, { metadata: { name }, spec: before }) as object);
    expect(made.status, made.body.message).toBe(201);
    if (status) expect((await send("PATCH", path(plural, `/${name}/status`), { status })).status).toBe(200);
    const answer = await send("PATCH", path(plural, `/${name}?dryRun=All`), { spec: change });
    if (refused) expectRefusal(answer, ...refused);
    else expect(answer.status, answer.body.message).toBe(200);
  });
});

test("the stored status says of which major the data is, and not one that is sent along with the spec", async () => {
  const named = merged(valid.sampleDB, { metadata: { name: "sent-along" } });
  expect((await send("POST", path("sampledbs", ""), named as object)).status).toBe(201);
  const where = path("sampledbs", "/sent-along");
  const lowered = { spec: { postgresVersion: 15 } };
  const store = (postgresVersion: string) => send("PATCH", `${where}/status`, { ...lowered, status: { postgresVersion } });
  expect((await store("17.5")).body).toMatchObject({ spec: { postgresVersion: 17 } }); // a write of the status leaves the spec
  const answer = await send("PATCH", where, { ...lowered, status: { postgresVersion: "15.18" } });
  expectRefusal(answer, "spec.postgresVersion", /the data is of PostgreSQL 17\.5/);
  await store("15.18");
  const { body } = await send("PATCH", where, { ...lowered, status: { postgresVersion: "17.5" } });
  expect(body).toMatchObject({ ...lowered, status: { postgresVersion: "15.18" } });
});

test("backup that was removed can be set up again with another repository and encryption", async () => {
  const made = await send(
    "POST",
    path("sampledbs", ""),
    merged(valid.sampleDB, { metadata: { name: "anew" }, spec: { backup: {} } }) as object,
  );
  expect(made.status, made.body.message).toBe(201);
  const where = path("sampledbs", "/anew");
  expect((await send("PATCH", where, { spec: { backup: null } })).status).toBe(200);
  const backup = { repository: { s3: valid.s3Fields }, encryptionSecretName: "passphrase" };
  const again = await send("PATCH", where, { spec: { backup } });
  expect(again.status, again.body.message).toBe(200);
  expect(again.body).toMatchObject({ spec: { backup } });
});

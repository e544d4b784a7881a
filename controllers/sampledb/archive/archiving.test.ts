import { expect, test } from "vitest";
import { after } from "../../../runtime/controller/result.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { RepositoryAnswer } from "../../repository/answers.ts";
import { Reports } from "../../repository/reports.ts";
import { findings, observed } from "../observations.fixture.ts";
import type { Scope } from "../scope.ts";
import { archiving } from "./archiving.ts";

const at = "2026-05-04T12:00:00Z";
const works: RepositoryAnswer = { stanza: "uid-17-1", probe: { at, ok: true } };
const denied: RepositoryAnswer = { stanza: "uid-17-1", probe: { at, ok: false, reason: "StoreDenied" } };

test("an answer is told when it has come, not at the next look; after a bad one the next look comes soon", async () => {
  let time = Date.parse(at);
  let answer = works;
  const now = () => new Date(time);
  const reports = new Reports(now);
  const identity = { namespace: "shop", name: "orders", uid: "uid" };
  const conditions = ["RepositoryReachable", "ArchivingHealthy"].map((type) => ({ type, status: "True", reason: "Well", message: "" }));
  const db = { ...sampleDB({ backup: {} }), metadata: identity, status: { conditions } };
  const look = async () => {
    const found = findings();
    const cache = { watched: () => ({ listBy: () => [] }) };
    const deps = { cache, reports, now, archiveQuestions: () => ({ repository: async () => answer, primary: undefined }) };
    const step = await archiving({ key: identity, db, deps, observed: observed([]), findings: found } as unknown as Scope);
    await reports.settled(identity);
    return { step, reason: found.archive?.repository.reason };
  };
  await look();
  time += 2000;
  expect(await look()).toMatchObject({ reason: "RepositoryReachable" });
  answer = denied;
  time += 60_000;
  expect(await look()).toEqual({ step: { kind: "done", result: after(2) }, reason: "RepositoryReachable" }); // it was asked just now
  time += 2000;
  expect(await look()).toEqual({ step: { kind: "done", result: after(10) }, reason: "StoreDenied" });
});

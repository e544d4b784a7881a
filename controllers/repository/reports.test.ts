import { expect, test } from "vitest";
import type { InstanceAnswer } from "./answers.ts";
import { Reports } from "./reports.ts";

const database = { namespace: "shop", name: "orders", uid: "uid" };
const answer = (waiting: number): InstanceAnswer => ({ waiting, oldestSeconds: 0, sizeBytes: 1, availableBytes: 1 });

function stage() {
  let time = Date.parse("2026-05-04T12:00:00Z");
  const reports = new Reports(() => new Date(time));
  const asked: string[] = [];
  const look = async (primary: (() => Promise<InstanceAnswer>) | undefined, seconds = 10) => {
    const before = reports.look(
      database,
      {
        repository: undefined,
        primary:
          primary &&
          (() => {
            asked.push("primary");
            return primary();
          }),
      },
      seconds,
    );
    await reports.settled(database);
    return before;
  };
  return { reports, asked, look, pass: (seconds: number) => (time += seconds * 1000) };
}

test("a look does not wait for the answer, and the next one has it", async () => {
  const { look, reports } = stage();
  const looking = look(async () => answer(3));
  expect(reports.isAsking(database)).toBe(true);
  expect((await looking).primary).toBeUndefined();
  expect(reports.isAsking(database)).toBe(false);
  expect(reports.of(database).primary?.answer?.waiting).toBe(3);
});

test("nobody is asked again before the time has passed, nor twice at once", async () => {
  const { look, asked, pass, reports } = stage();
  await look(async () => answer(0));
  await look(async () => answer(0));
  expect(asked).toHaveLength(1);
  pass(10);
  const { promise, resolve } = Promise.withResolvers<InstanceAnswer>();
  const slow = look(() => promise);
  pass(60);
  reports.look(database, { repository: undefined, primary: async () => answer(9) }, 10);
  resolve(answer(1));
  await slow;
  expect(asked).toHaveLength(2);
  expect(reports.of(database).primary?.answer?.waiting).toBe(1);
});

test("who does not answer is told with its last answer, and since when it is silent; an answer ends that", async () => {
  const { look, pass, reports } = stage();
  await look(async () => answer(3));
  const refuse = () => Promise.reject(new Error("refused"));
  for (let round = 0; round < 2; round++) {
    pass(10);
    await look(refuse);
  }
  expect(reports.of(database).primary).toMatchObject({
    ...{ answer: { waiting: 3 }, silence: "refused", silentSince: new Date("2026-05-04T12:00:10Z") },
  });
  pass(10);
  await look(async () => answer(0));
  expect(reports.of(database).primary?.silentSince).toBeUndefined();
});

test("whom nobody can ask is as silent as one that does not answer", async () => {
  const { look, pass, reports } = stage();
  await look(async () => answer(3));
  pass(10);
  await look(undefined);
  expect(reports.of(database).primary).toMatchObject({ silence: "its Pod has no address", silentSince: new Date("2026-05-04T12:00:10Z") });
});

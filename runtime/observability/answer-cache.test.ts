import { expect, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import { AnswerCache } from "./answer-cache.ts";

function counted(capacity = 10) {
  const clock = new FakeClock();
  const cache = new AnswerCache<string>(capacity, clock);
  const asked: string[] = [];
  const get = (key: string, milliseconds = 1000) =>
    cache.get(key, async () => {
      asked.push(key);
      return { answer: key.toUpperCase(), milliseconds };
    });
  return { clock, cache, asked, get };
}

test("an answer is cached for its lifetime", async () => {
  const { clock, asked, get } = counted();
  expect([await get("a"), await get("a")]).toEqual(["A", "A"]);
  await clock.advance(999);
  await get("a");
  expect(asked).toEqual(["a"]);
  await clock.advance(1);
  expect(await get("a")).toBe("A");
  expect(asked).toEqual(["a", "a"]);
});

test("concurrent requests for a key share one call", async () => {
  const { asked, get } = counted();
  expect(await Promise.all([get("a"), get("a"), get("b")])).toEqual(["A", "A", "B"]);
  expect(asked).toEqual(["a", "b"]);
});

test("an answer without a lifetime is not cached", async () => {
  const { cache, asked, get } = counted();
  await get("a", 0);
  expect(cache.has("a")).toBe(false);
  await get("a", 0);
  expect(asked).toEqual(["a", "a"]);
});

test("a failure reaches all waiting callers, and is not cached", async () => {
  const { cache, get } = counted();
  const fail = () => cache.get("a", () => Promise.reject(new Error("away")));
  expect((await Promise.allSettled([fail(), fail()])).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await get("a")).toBe("A");
});

test("beyond the capacity the oldest answer is dropped", async () => {
  const { cache, asked, get } = counted(2);
  for (const key of ["a", "b", "c", "c", "b", "a"]) await get(key);
  expect(cache.size).toBe(2);
  expect(asked).toEqual(["a", "b", "c", "a"]);
});

import { describe, expect, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import { Silence, Silent } from "./silence.ts";

function stage() {
  const clock = new FakeClock();
  const silence = new Silence({ opening: 30_000, stream: 150_000 }, clock);
  const outer = new AbortController();
  const stream = Promise.withResolvers<void>();
  let given: AbortSignal | undefined;
  let ending: unknown = "running";
  silence
    .guard(outer.signal, (signal) => {
      given = signal;
      signal.addEventListener("abort", () => stream.reject(signal.reason));
      return stream.promise;
    })
    .then(
      () => (ending = "ended"),
      (error: unknown) => (ending = error),
    );
  return { clock, silence, outer, stream, aborted: () => given?.aborted, ending: () => ending };
}

describe("a stream", () => {
  test("without an answer is ended after the time for opening", async () => {
    const { clock, aborted, ending } = stage();
    await clock.advance(29_999);
    expect([aborted(), ending()]).toEqual([false, "running"]);
    await clock.advance(1);
    expect(aborted()).toBe(true);
    expect(ending()).toBeInstanceOf(Silent);
    expect(clock.armed).toBe(0);
  });

  test("that was answered may be silent for longer, counted from the last arrival", async () => {
    const { clock, silence, ending } = stage();
    await clock.advance(20_000);
    silence.heard();
    await clock.advance(149_000);
    silence.heard();
    await clock.advance(149_999);
    expect(ending()).toBe("running");
    await clock.advance(1);
    expect(ending()).toMatchObject({ name: "Silent", message: "nothing was heard on the watch for 150 s (it was 319 s old)" });
  });

  test("that ends by itself leaves no timer behind", async () => {
    const { clock, stream, ending } = stage();
    stream.resolve();
    await clock.advance(0);
    expect([ending(), clock.armed]).toEqual(["ended", 0]);
  });

  test("that fails by itself rejects with its own error", async () => {
    const { clock, stream, ending } = stage();
    stream.reject(new Error("reset"));
    await clock.advance(0);
    expect([ending(), clock.armed]).toEqual([new Error("reset"), 0]);
  });

  test("ends with the outer signal, and with its reason", async () => {
    const { clock, outer, ending } = stage();
    outer.abort(new Error("shutdown"));
    await clock.advance(0);
    expect([ending(), clock.armed]).toEqual([new Error("shutdown"), 0]);
  });

  test("ends at once when the outer signal was aborted before", async () => {
    const silence = new Silence({ opening: 1, stream: 1 }, new FakeClock());
    const run = async (signal: AbortSignal) => signal.throwIfAborted();
    await expect(silence.guard(AbortSignal.abort(new Error("before")), run)).rejects.toThrow("before");
  });
});

test("each stream has its own time, and the reported silence goes on over both", async () => {
  const clock = new FakeClock();
  const silence = new Silence({ opening: 30_000, stream: 150_000 }, clock);
  silence.heard();
  const never = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  for (let round = 1; round <= 3; round++) {
    const guarded = expect(silence.guard(new AbortController().signal, never)).rejects.toThrow(Silent);
    await clock.advance(30_000);
    await guarded;
    expect(silence.milliseconds).toBe(round * 30_000);
  }
});

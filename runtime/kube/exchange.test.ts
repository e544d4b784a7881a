import { getEventListeners } from "node:events";
import type { Dispatcher } from "undici";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Aborted, DeadlineExceeded, Unreachable, WriteRefused } from "./errors.ts";
import { Exchange, type HttpRequest } from "./exchange.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0); // a remaining timer would keep the process alive
  vi.useRealTimers();
});

function exchange(request: Partial<HttpRequest> = {}): Exchange {
  return new Exchange({ method: "GET", path: "/a?b=c", deadline: 1000, pool: "calls", ...request });
}

/** Stands for undici's side of a request on a connection. */
function controller() {
  const aborts: unknown[] = [];
  return { aborts, side: { abort: (reason: unknown) => aborts.push(reason) } as unknown as Dispatcher.DispatchController };
}

test("an answer in pieces is returned as a whole", async () => {
  const { side } = controller();
  const it = exchange();
  it.onRequestStart(side);
  it.onResponseStart(side, 201, { "content-type": "application/json" });
  for (const byte of Buffer.from("🐘")) it.onResponseData(side, Buffer.from([byte]));
  it.onResponseEnd();
  expect(await it.answer).toEqual({ status: 201, headers: { "content-type": "application/json" }, text: "🐘" });
});

test("a failure before there is a connection rejects, once", async () => {
  const it = exchange();
  it.onResponseError(null, new Error("connect ECONNREFUSED"));
  it.onResponseError(null, new Error("again"));
  await expect(it.answer).rejects.toThrow(new Unreachable("GET /a: connect ECONNREFUSED"));
});

test("the deadline ends the exchange and its connection", async () => {
  const { aborts, side } = controller();
  const it = exchange();
  it.onRequestStart(side);
  vi.advanceTimersByTime(999);
  expect(it.hasFailed).toBe(false);
  vi.advanceTimersByTime(1);
  await expect(it.answer).rejects.toThrow(new DeadlineExceeded("GET /a: no answer within 1 s"));
  expect(aborts).toHaveLength(1);
});

test.each([0, 1])("each signal ends the exchange, and its listeners are removed: signal %i", async (which) => {
  const controllers = [new AbortController(), new AbortController()];
  const signals = controllers.map(({ signal }) => signal);
  const it = exchange({ signals });
  controllers[which]?.abort(new Error("enough"));
  await expect(it.answer).rejects.toMatchObject({ name: "Aborted", cause: { message: "enough" } });
  expect(signals.flatMap((signal) => getEventListeners(signal, "abort"))).toEqual([]);
});

test("with an aborted signal the exchange has failed from the beginning, and listens to no other", async () => {
  const { signal } = new AbortController();
  const it = exchange({ signals: [AbortSignal.abort(), signal] });
  expect(it.hasFailed).toBe(true);
  await expect(it.answer).rejects.toThrow(Aborted);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a request that was aborted in the queue, or may not start, is not started, and its connection stays usable", async () => {
  const { aborts, side } = controller();
  const given = new AbortController();
  const up = exchange({ signals: [given.signal] });
  given.abort();
  expect(() => up.onRequestStart(side)).toThrow(Aborted);
  const refused = exchange({ mayStart: () => false });
  expect(() => refused.onRequestStart(side)).toThrow(WriteRefused);
  await expect(up.answer).rejects.toThrow(Aborted);
  await expect(refused.answer).rejects.toThrow(WriteRefused);
  expect(aborts).toEqual([]);
});

test("an error that onData throws is the failure of the exchange, and the stream ends", async () => {
  const { aborts, side } = controller();
  const refusal = new Error("too much");
  const it = exchange({
    onData: () => {
      throw refusal;
    },
  });
  it.onRequestStart(side);
  it.onResponseStart(side, 200, {});
  it.onResponseData(side, Buffer.from("{}"));
  await expect(it.answer).rejects.toBe(refusal);
  expect(aborts).toEqual([refusal]);
  await vi.runAllTimersAsync();
});

test("a stream that arrives faster than it is processed yields to others", async () => {
  const said: string[] = [];
  const side = { pause: () => said.push("pause"), resume: () => said.push("resume") } as unknown as Dispatcher.DispatchController;
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  const it = exchange({
    onData: () => {
      now += 3;
    },
  });
  it.onRequestStart(side);
  it.onResponseStart(side, 200, {});
  it.onResponseData(side, Buffer.from("a"));
  expect(said).toEqual([]);
  it.onResponseData(side, Buffer.from("b"));
  expect(said).toEqual(["pause"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(said).toEqual(["pause", "resume"]);
  it.onResponseData(side, Buffer.from("c"));
  expect(said).toEqual(["pause", "resume"]);
  it.onResponseEnd();
  await it.answer;
  await vi.advanceTimersByTimeAsync(1);
  clock.mockRestore();
});

test("the body of a refusal is collected and not passed to onData", async () => {
  const { side } = controller();
  const onData = vi.fn();
  const onOpen = vi.fn();
  const it = exchange({ onData, onOpen });
  it.onRequestStart(side);
  it.onResponseStart(side, 410, {});
  it.onResponseData(side, Buffer.from("gone"));
  it.onResponseEnd();
  expect(await it.answer).toMatchObject({ status: 410, text: "gone" });
  expect([onData, onOpen].flatMap(({ mock }) => mock.calls)).toEqual([]);
});

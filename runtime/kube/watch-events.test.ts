import { expect, test } from "vitest";
import { Gone, TryLater, Unreachable } from "./errors.ts";
import { eventDecoder, type WatchEvent } from "./watch-events.ts";

const call = { method: "WATCH", path: "/api/v1/configmaps" };

function event(name: string, type: WatchEvent["type"] = "ADDED"): WatchEvent {
  return { type, object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name } } };
}

function lines(...events: readonly object[]): Buffer {
  return Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}

const errorEvent = (status: object) => ({ type: "ERROR", object: { kind: "Status", ...status } });

/** The events that were passed on, one list for each call. */
function decode(pieces: readonly Buffer[]): (readonly WatchEvent[])[] {
  const handedOn: (readonly WatchEvent[])[] = [];
  const decoder = eventDecoder(call, (events) => handedOn.push(events));
  for (const piece of pieces) decoder(piece);
  return handedOn;
}

const events = [event("zürich"), event("elephant-🐘", "MODIFIED"), event("象"), event("end", "BOOKMARK")];

test("events are complete wherever the stream is cut, even in the middle of a character", () => {
  const stream = lines(...events);
  for (let cut = 0; cut <= stream.length; cut++) {
    const pieces = [stream.subarray(0, cut), stream.subarray(cut)];
    expect(decode(pieces).flat(), `cut at ${cut}`).toEqual(events);
  }
});

test("a stream that arrives byte by byte is decoded the same", () => {
  const stream = lines(...events);
  expect(decode([...stream].map((byte) => Buffer.from([byte]))).flat()).toEqual(events);
});

test("the events of a chunk are passed on at once, and a chunk without a line's end passes on nothing", () => {
  const stream = lines(event("a"), event("b"), event("c"));
  expect(decode([stream.subarray(0, 20), stream.subarray(20)]).map((part) => part.length)).toEqual([3]);
});

test("an unfinished line is no event, nor is an empty one", () => {
  const whole = lines(event("a"));
  expect(decode([whole, Buffer.from("\n\n"), whole.subarray(0, -1)])).toEqual([[event("a")]]);
});

test.each([
  [{ code: 410, reason: "Expired", message: "too old resource version: 1 (2)" }, Gone, /too old resource version: 1 \(2\)/],
  [{ code: 429, details: { retryAfterSeconds: 3 } }, TryLater, /answered 429/],
  [{ message: "no code at all" }, Error, /no code at all/],
])("an ERROR event is thrown: %j", (status, type, message) => {
  const act = () => decode([lines(errorEvent(status))]);
  expect(act).toThrow(type);
  expect(act).toThrow(message);
});

test("events before an ERROR event in the same chunk are not lost", () => {
  const seen: WatchEvent[] = [];
  const decoder = eventDecoder(call, (events) => seen.push(...events));
  expect(() => decoder(lines(event("a"), errorEvent({ code: 410 }), event("b")))).toThrow(Gone);
  expect(seen).toEqual([event("a")]);
});

test("a line that is not JSON is a broken stream, and is not quoted: it may be half a Secret", () => {
  const act = () => decode([Buffer.from('{"type":"ADDED","object":{"data":{"password":"aHVudGVyMg=="\n')]);
  expect(act).toThrow(Unreachable);
  expect(act).not.toThrow(/aHVu/);
});

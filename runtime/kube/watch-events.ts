// Decodes the stream of a watch: one JSON object a line, in chunks that are cut anywhere.
import { parsed } from "./answer.ts";
import { apiError, type Call, type Status } from "./errors.ts";
import type { KubeObject } from "./object.ts";

/** The object of a bookmark has only a kind and a resourceVersion. */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: T;
}

const newline = 0x0a;

/**
 * Takes the chunks of the stream and passes on complete events, all those of a chunk at once. An ERROR event is thrown as an
 * ApiError, after the events before it were passed on.
 */
export function eventDecoder<T extends KubeObject>(
  call: Call,
  onEvents: (events: readonly WatchEvent<T>[]) => void,
): (chunk: Buffer) => void {
  let begun: Buffer[] = []; // chunks of an unfinished line: joined once, however many there are
  return (chunk) => {
    const events: WatchEvent<T>[] = [];
    let start = 0;
    try {
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        const line = chunk.subarray(start, end);
        const text = begun.length > 0 ? Buffer.concat([...begun, line]).toString("utf8") : line.toString("utf8");
        begun = [];
        start = end + 1;
        if (text.length > 0) events.push(parse(call, text));
      }
      if (start < chunk.length) begun.push(chunk.subarray(start));
    } finally {
      if (events.length > 0) onEvents(events);
    }
  };
}

function parse<T extends KubeObject>(call: Call, text: string): WatchEvent<T> {
  const event = parsed<WatchEvent<T> | { readonly type: "ERROR"; readonly object: Status }>(call, text);
  if (event.type === "ERROR") throw apiError(call, event.object.code ?? 500, event.object);
  return event;
}

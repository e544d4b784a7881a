// What becomes of one request: it is recorded, meets its faults, and goes on to the API server with its answer streamed back.
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Agent, request as send } from "node:https";
import { pipeline, Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./answers.ts";
import type { FaultList } from "./fault-list.ts";
import type { RecordedRequest, Recording } from "./recording.ts";
import { parseRequest } from "./request.ts";

export interface Upstream {
  readonly url: string;
  /** For requests that bring no identity of their own. */
  readonly administrator: Agent;
  /** For requests that bring a token: only that may speak for them. */
  readonly anybody: Agent;
}

/** Headers between two neighbours: each connection has its own. */
const ofTheConnection = new Set(["connection", "keep-alive", "expect"]);

export function forwarding(upstream: Upstream, faults: FaultList, recording: Recording): RequestListener {
  return async (incoming, outgoing) => {
    const request = recording.begin(parseRequest(incoming.method ?? "GET", incoming.url ?? "/"));
    const gone = new AbortController();
    outgoing.on("error", () => {}); // the close that follows says the same
    outgoing.once("close", () => {
      recording.ended(request);
      gone.abort();
    });
    if (!(await waitedOut(request, gone.signal))) return;
    const answer = faults.take("answer", request)?.answer;
    if (answer) giveAnswer(request, incoming, outgoing, answer);
    else forward(request, incoming, outgoing);
  };

  /** False when the client was gone before the wait was over. */
  async function waitedOut(request: RecordedRequest, gone: AbortSignal): Promise<boolean> {
    const whenGone = new Promise((resolve) => gone.addEventListener("abort", resolve));
    const hold = faults.take("hold", request);
    if (hold) await Promise.race([hold.released, whenGone]);
    const delay = faults.take("delay", request);
    if (delay) await sleep(delay.milliseconds, undefined, { signal: gone }).catch(() => {});
    return !gone.aborted;
  }

  function giveAnswer(request: RecordedRequest, incoming: IncomingMessage, outgoing: ServerResponse, answer: Answer): void {
    recording.answered(request, answer.status);
    incoming.resume();
    outgoing.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    outgoing.end(`${JSON.stringify(answer.body)}\n`);
  }

  function forward(request: RecordedRequest, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const call = send(`${upstream.url}${incoming.url}`, {
      method: request.method,
      headers: endToEndHeaders(incoming),
      agent: incoming.headers.authorization === undefined ? upstream.administrator : upstream.anybody,
    });
    // An API server that can't be reached gives no answer: neither do we.
    call.on("error", () => outgoing.destroy());
    outgoing.once("close", () => call.destroy());
    call.on("response", (answer) => {
      if (faults.take("loseAnswer", request)) {
        answer.resume().on("close", () => outgoing.destroy());
        return;
      }
      recording.answered(request, answer.statusCode ?? 0);
      outgoing.sendDate = false;
      outgoing.writeHead(answer.statusCode ?? 0, answer.statusMessage, endToEndHeaders(answer));
      outgoing.flushHeaders(); // a watch may have no event for a long time
      pipeline(answer, cutter(request, outgoing), outgoing, () => {});
    });
    incoming.pipe(call);
  }

  /** Passes everything on until a cut is set; then the next line is sent by half, and the connection ends. */
  function cutter(request: RecordedRequest, outgoing: ServerResponse): Transform {
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (!faults.take("cutMiddle", request)) return done(null, chunk);
        const lastLine = chunk.lastIndexOf("\n", -2) + 1;
        const half = chunk.subarray(0, lastLine + Math.ceil((chunk.length - lastLine) / 2));
        outgoing.write(half, () => outgoing.destroy());
      },
    });
  }
}

/** As pairs in a flat list, in their order and with their repetitions. */
function endToEndHeaders({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => !ofTheConnection.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ""));
}

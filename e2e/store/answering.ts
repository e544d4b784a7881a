// What becomes of one request to the store: it goes on to MinIO, or meets the fault that is set.
import { type IncomingMessage, type RequestListener, request, type ServerResponse } from "node:http";
import type { Writable } from "node:stream";

/** Faults that speak S3; those of the network are the line's. */
export type AnswerFault = "denied" | "failing" | "full" | "cut";

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** In MinIO's own words. */
const refusals: Readonly<Record<Exclude<AnswerFault, "cut">, Refusal>> = {
  denied: { status: 403, code: "AccessDenied", message: "Access Denied." },
  failing: { status: 500, code: "InternalError", message: "We encountered an internal error, please try again." },
  full: {
    status: 507,
    code: "XMinioStorageFull",
    message: "Storage backend has reached its minimum free drive threshold. Please delete a few objects to proceed.",
  },
};

/** Headers between two neighbours: each connection has its own. */
const ofTheConnection = new Set(["connection", "keep-alive", "expect"]);

export class Answering {
  fault: AnswerFault | undefined;
  /** Hears of each request before anything becomes of it. */
  heard: (incoming: IncomingMessage) => void = () => {};
  readonly #port: number;

  /** The port is MinIO's, on loopback. */
  constructor(port: number) {
    this.#port = port;
  }

  readonly listener: RequestListener = (incoming, outgoing) => {
    outgoing.on("error", () => {}); // the close that follows says the same
    this.heard(incoming);
    const { fault } = this;
    if (fault === undefined || fault === "cut") this.#forward(incoming, outgoing, fault === "cut");
    else if (fault === "full" && !stores(incoming)) this.#forward(incoming, outgoing, false);
    else refuse(incoming, outgoing, refusals[fault]);
  };

  #forward(incoming: IncomingMessage, outgoing: ServerResponse, isCut: boolean): void {
    const call = request({
      host: "127.0.0.1",
      port: this.#port,
      method: incoming.method ?? "GET",
      path: incoming.url ?? "/", // to the letter: it is signed
      headers: endToEndHeaders(incoming),
      agent: false, // a connection that was kept may end just as it is used again, which would be a fault that nobody has set
    });
    const cut = () => outgoing.destroy();
    call.on("error", cut); // a store that can't be reached gives no answer
    outgoing.once("close", () => call.destroy());
    call.on("response", (answer) => {
      const hasBody = incoming.method !== "HEAD" && lengthOf(answer) > 0;
      if (isCut && !hasBody) {
        cut(); // done as asked, and nobody hears of it
        return;
      }
      outgoing.sendDate = false;
      outgoing.writeHead(answer.statusCode ?? 0, answer.statusMessage, endToEndHeaders(answer));
      answer.on("error", cut);
      if (isCut) firstHalf(answer, outgoing, cut);
      else answer.pipe(outgoing);
    });
    if (isCut && lengthOf(incoming) > 0) firstHalf(incoming, call, cut);
    else incoming.pipe(call);
  }
}

/** Whether the request needs room in the store. A full one still lets its clients read and delete. */
function stores({ method, url = "" }: IncomingMessage): boolean {
  const deletesMany = new URL(url, "http://store").searchParams.has("delete");
  return method === "PUT" || (method === "POST" && !deletesMany);
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, { status, code, message }: Refusal): void {
  incoming.resume();
  const [path] = (incoming.url ?? "/").split("?");
  outgoing.writeHead(status, { "content-type": "application/xml", "x-amz-request-id": "FAULT" });
  outgoing.end(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>` +
      `<Resource>${path?.replaceAll("&", "&amp;")}</Resource><RequestId>FAULT</RequestId><HostId>FAULT</HostId></Error>`,
  );
}

/** Zero also for a body whose length is not told. */
function lengthOf({ headers }: IncomingMessage): number {
  return Number(headers["content-length"] ?? 0);
}

/** Passes on half of a body, then cuts. */
function firstHalf(from: IncomingMessage, to: Writable, cut: () => void): void {
  let rest = Math.ceil(lengthOf(from) / 2);
  from.on("data", (chunk: Buffer) => {
    if (rest === 0) return;
    const part = chunk.subarray(0, rest);
    rest -= part.length;
    if (rest > 0) to.write(part);
    else to.write(part, cut); // when all of it is on its way
  });
}

/** As pairs in a flat list, in their order and with their repetitions. */
function endToEndHeaders({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => !ofTheConnection.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ""));
}

// What a ledger has seen: one line of JSON for each attempt to write, and what follows from them.
import { closeSync, existsSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

/** Which PostgreSQL it was: another one, or the same one restarted, has another start. */
export interface Server {
  readonly address: string;
  readonly started: string;
}

export type Entry =
  /** The first id of this ledger; rows below it are another's. */
  | { readonly kind: "begun"; readonly at: number; readonly id: number }
  | { readonly kind: "acknowledged"; readonly at: number; readonly id: number; readonly server: Server }
  /** Whether the row was committed was never told: the answer was lost, or came with a warning. */
  | { readonly kind: "unknown"; readonly at: number; readonly id: number; readonly why: string }
  /** The server said that it did not commit the row. */
  | { readonly kind: "refused"; readonly at: number; readonly id: number; readonly why: string }
  | { readonly kind: "unconnected"; readonly at: number; readonly why: string };

export type Acknowledgement = Extract<Entry, { kind: "acknowledged" }>;

export interface Outage {
  /** The last acknowledgement before it, by the writer's clock, in milliseconds since 1970. */
  readonly start: number;
  /** Up to the next acknowledgement, or to now where there is none yet. */
  readonly milliseconds: number;
  readonly before: Server;
  /** Absent while the outage lasts. */
  readonly after?: Server;
}

export interface Report {
  /** The writer's clock, to compare the other times with. */
  readonly now: number;
  readonly acknowledged: number;
  readonly unknown: number;
  readonly refused: number;
  readonly unconnected: number;
  readonly last?: { readonly id: number; readonly at: number; readonly server: Server };
  /** In the order in which they took their first row. */
  readonly servers: readonly (Server & { readonly acknowledged: number; readonly firstAt: number; readonly lastAt: number })[];
  readonly outages: readonly Outage[];
  /** Each error once, the one that came last at the end. */
  readonly errors: readonly { readonly why: string; readonly count: number; readonly lastAt: number }[];
}

export interface Verdict {
  readonly acknowledged: number;
  /** Acknowledged rows that the database does not have; the first of them as they were acknowledged. */
  readonly lost: number;
  readonly firstLost: readonly Acknowledgement[];
  /** Ids that the database has although it refused them, or that were never sent; the first of them with the refusal. */
  readonly unexpected: number;
  readonly firstUnexpected: readonly { readonly id: number }[];
}

const outageMilliseconds = 500;

/** Appends to the book at once; a writer that is killed has told all that it knew. */
export class BookWriter implements Disposable {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  append(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** Empty when there is no book yet. The last line may be half-written, and counts then when it is whole. */
export function readBook(path: string): Entry[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Entry);
}

/** Reads on from where it has ended: a book of some minutes has tens of thousands of lines. */
export class BookReader implements Disposable {
  readonly #file: number;
  #unfinished = "";

  constructor(path: string) {
    this.#file = openSync(path, "r");
  }

  /** What was appended since it was last asked. */
  more(): Entry[] {
    const chunk = Buffer.alloc(1 << 16);
    let size = readSync(this.#file, chunk);
    for (; size > 0; size = readSync(this.#file, chunk)) this.#unfinished += chunk.toString("utf8", 0, size);
    const lines = this.#unfinished.split("\n");
    this.#unfinished = lines.pop() ?? "";
    return lines.map((line) => JSON.parse(line) as Entry);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** Rows that were acknowledged by another than this one; all of them, where it is empty. */
export function acknowledgedBy(book: readonly Entry[], otherThan: Server | undefined): number {
  return acknowledgements(book).filter(({ server }) => !otherThan || !isSame(server, otherThan)).length;
}

export function isSame(one: Server, other: Server): boolean {
  return one.address === other.address && one.started === other.started;
}

function acknowledgements(book: readonly Entry[]) {
  return book.filter((entry) => entry.kind === "acknowledged");
}

export function report(book: readonly Entry[], now: number): Report {
  const acknowledged = acknowledgements(book);
  const count = (kind: Entry["kind"]) => book.filter((entry) => entry.kind === kind).length;
  const last = acknowledged.at(-1);
  return {
    now,
    acknowledged: acknowledged.length,
    unknown: count("unknown"),
    refused: count("refused"),
    unconnected: count("unconnected"),
    ...(last ? { last: { id: last.id, at: last.at, server: last.server } } : {}),
    servers: serversOf(acknowledged),
    outages: outagesOf(acknowledged, now),
    errors: errorsOf(book),
  };
}

function serversOf(acknowledged: readonly Acknowledgement[]): Report["servers"] {
  const byServer = Map.groupBy(acknowledged, ({ server }) => `${server.address} ${server.started}`);
  return [...byServer.values()].flatMap((entries) => {
    const [first, last] = [entries[0], entries.at(-1)];
    return first && last ? [{ ...first.server, acknowledged: entries.length, firstAt: first.at, lastAt: last.at }] : [];
  });
}

function errorsOf(book: readonly Entry[]): Report["errors"] {
  const byWords = Map.groupBy(
    book.filter((entry) => "why" in entry),
    ({ kind, why }) => `${kind}: ${why}`,
  );
  const errors = [...byWords].map(([why, entries]) => ({ why, count: entries.length, lastAt: entries.at(-1)?.at ?? 0 }));
  return errors.sort((one, other) => one.lastAt - other.lastAt);
}

function outagesOf(acknowledged: readonly Acknowledgement[], now: number): Outage[] {
  return acknowledged.flatMap(({ at: start, server: before }, index) => {
    const next = acknowledged[index + 1];
    const milliseconds = (next?.at ?? now) - start;
    return milliseconds > outageMilliseconds ? [{ start, milliseconds, before, ...(next ? { after: next.server } : {}) }] : [];
  });
}

/**
 * What the database says of the rows. The writer goes on meanwhile: what was acknowledged before the database was read must
 * be in it, and what is in it must be known to the book as it was after.
 */
export function verdict(bookBefore: readonly Entry[], stored: ReadonlySet<number>, bookAfter: readonly Entry[]): Verdict {
  const acknowledged = acknowledgements(bookBefore);
  const lost = acknowledged.filter(({ id }) => !stored.has(id));
  const attempts = bookAfter.filter((entry) => "id" in entry && entry.kind !== "begun");
  const mayBeThere = new Set(attempts.filter(({ kind }) => kind !== "refused").map(({ id }) => id));
  const highest = attempts.at(-1)?.id ?? 0; // the one above may be on its way
  const lowest = bookAfter.find(({ kind }) => kind === "begun");
  const ours = (id: number) => lowest?.kind === "begun" && id >= lowest.id && id <= highest;
  const unexpected = [...stored].filter((id) => ours(id) && !mayBeThere.has(id));
  return {
    acknowledged: acknowledged.length,
    lost: lost.length,
    firstLost: lost.slice(0, 10),
    unexpected: unexpected.length,
    firstUnexpected: unexpected.slice(0, 10).map((id) => attempts.find((attempt) => attempt.id === id) ?? { id }),
  };
}

/** The id to go on with: the one that was on its way when the last writer ended is not used again. */
export function nextId(book: readonly Entry[]): { readonly lostTrackOf: number; readonly next: number } | undefined {
  const last = book.findLast((entry) => "id" in entry);
  if (last === undefined) return undefined;
  const lostTrackOf = last.kind === "begun" ? last.id : last.id + 1;
  return { lostTrackOf, next: lostTrackOf + 1 };
}

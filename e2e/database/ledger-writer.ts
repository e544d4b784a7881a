// The program in the ledger's Pod. `write` inserts rows and notes what became of each; the other words are run beside it, by exec:
// `report [WHEN]`, `verify` and `connect N [HOST]` print one line of JSON. It needs the database's Service and its own files, no API server.
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError } from "pg";
import { freshPorts } from "./fresh-ports.ts";
import {
  acknowledgedBy,
  BookReader,
  BookWriter,
  nextId,
  type Report,
  readBook,
  report,
  type Server,
  type Verdict,
  verdict,
} from "./ledger-book.ts";
import { type ConnectionStep, connect, type LedgerConnection } from "./ledger-connection.ts";

export interface Connections {
  readonly attempts: number;
  /** Those that failed, in their order: which attempt, how far it came, and with what it ended. */
  readonly failures: readonly string[];
  /** Who answered, and how often. */
  readonly servers: readonly (Server & { readonly inRecovery: boolean; readonly answers: number })[];
}

const secret = process.env["LEDGER_SECRET"] ?? "/secret";
const bookPath = process.env["LEDGER_BOOK"] ?? "/book/entries";
const portsPath = process.env["LEDGER_PORTS"] ?? "/book/ports";
const table = process.env["LEDGER_TABLE"] ?? "ledger";
const intervalMilliseconds = 20;
const pauseMilliseconds = 50;
const forWriting = { secret, connectMilliseconds: 1000, statementMilliseconds: 2000 };

async function write(): Promise<never> {
  using book = new BookWriter(bookPath);
  const resumed = nextId(readBook(bookPath));
  if (resumed)
    book.append({ kind: "unknown", at: Date.now(), id: resumed.lostTrackOf, why: "the writer was ended while it was on its way" });
  let next = resumed?.next;
  for (;;) {
    try {
      await using connection = await connect(forWriting);
      await connection.client.query(
        `CREATE TABLE IF NOT EXISTS ${table} (id bigint PRIMARY KEY, at timestamptz DEFAULT now(), server_started timestamptz)`,
      );
      next ??= await begin(connection, book);
      next = await writeWhileItLasts(connection, book, next);
    } catch (error) {
      book.append({ kind: "unconnected", at: Date.now(), why: messageOf(error) });
    }
    await sleep(pauseMilliseconds);
  }
}

/** Above the rows of any ledger before this one. */
async function begin({ client }: LedgerConnection, book: BookWriter): Promise<number> {
  const { rows } = await client.query<{ next: string }>(`SELECT coalesce(max(id), 0) + 1 AS next FROM ${table}`);
  const id = Number(rows[0]?.next);
  book.append({ kind: "begun", at: Date.now(), id });
  return id;
}

/** Resolves to the next id once the connection is of no more use. Each id is sent once, whatever became of it. */
async function writeWhileItLasts(connection: LedgerConnection, book: BookWriter, first: number): Promise<number> {
  const { client, server } = connection;
  for (let id = first; ; id++) {
    const broken = connection.broken();
    if (broken !== undefined) {
      book.append({ kind: "unconnected", at: Date.now(), why: broken });
      return id;
    }
    const due = performance.now() + intervalMilliseconds;
    try {
      await client.query(`INSERT INTO ${table} (id, server_started) VALUES ($1, $2)`, [id, server.started]);
      // A commit that gave up waiting for its replica is acknowledged with a warning: it is on one volume only, and no promise.
      const why = connection.warning();
      const at = Date.now();
      book.append(why === undefined ? { kind: "acknowledged", at, id, server } : { kind: "unknown", at, id, why });
    } catch (error) {
      // An ERROR ends the transaction without a commit. FATAL ends the session, which may be after the commit.
      const kind = error instanceof DatabaseError && error.severity === "ERROR" ? "refused" : "unknown";
      book.append({ kind, at: Date.now(), id, why: messageOf(error) });
      return id + 1;
    }
    await sleep(Math.max(0, due - performance.now()));
  }
}

/** What a report waits for; it comes after so many milliseconds whatever is so then. */
export interface Expected {
  readonly rows: number;
  /** Rows that this server took don't count. */
  readonly otherThan?: Server;
  readonly milliseconds: number;
}

/** Waiting here costs one program; asking for reports until one has it costs two for each. */
async function reportWhen({ rows, otherThan, milliseconds }: Expected): Promise<Report> {
  const end = performance.now() + milliseconds;
  using book = new BookReader(bookPath);
  for (let found = 0; ; await sleep(pauseMilliseconds)) {
    found += acknowledgedBy(book.more(), otherThan);
    if (found >= rows || performance.now() > end) return report(readBook(bookPath), Date.now());
  }
}

/** Repeated for a while: it is asked after outages, and what counts is what the database has in the end. */
async function verify(): Promise<Verdict & { readonly server: Server }> {
  const end = performance.now() + 30_000;
  for (;;) {
    try {
      const before = readBook(bookPath);
      await using connection = await connect({ ...forWriting, statementMilliseconds: 20_000 });
      if (connection.inRecovery) throw new Error(`the read-write Service led to ${connection.server.address}, which is a replica`);
      const { rows } = await connection.client.query<{ id: string }>(`SELECT id FROM ${table}`);
      const stored = new Set(rows.map(({ id }) => Number(id)));
      return { ...verdict(before, stored, readBook(bookPath)), server: connection.server };
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(500);
    }
  }
}

/** Each is new to the node as well: it comes from a port that no attempt has used, also none of the writer's. */
async function knock(attempts: number, host: string | undefined): Promise<Connections> {
  const failures: string[] = [];
  const servers = new Map<string, Connections["servers"][number]>();
  for (const [index, localPort] of freshPorts(portsPath, attempts).entries()) {
    const [at, begin] = [new Date().toISOString(), performance.now()];
    const after = () => `after ${Math.round(performance.now() - begin)} ms`;
    const steps: string[] = [];
    const reached = (step: ConnectionStep) => void steps.push(`${step} ${after()}`);
    try {
      // A lost server never answers. The right one may take its time on a busy machine, for TLS and the password.
      await using connection = await connect({ secret, host, localPort, connectMilliseconds: 5000, statementMilliseconds: 5000, reached });
      const { server, inRecovery } = connection;
      const key = `${server.address} ${server.started} ${inRecovery}`;
      servers.set(key, { ...server, inRecovery, answers: (servers.get(key)?.answers ?? 0) + 1 });
    } catch (error) {
      const told = [...steps, `failed ${after()}`].join(", ");
      failures.push(`attempt ${index + 1} at ${at}: ${told}: ${messageOf(error)}${codeOf(error)}`);
    }
  }
  return { attempts, failures, servers: [...servers.values()] };
}

/** PostgreSQL's code or the system's, where there is one. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && error.code !== undefined ? ` (${String(error.code)})` : "";
}

/** An attempt at several addresses fails with one error for each, and no words of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

const [command, operand, host] = process.argv.slice(2);
const commands: Readonly<Record<string, () => unknown>> = {
  write,
  report: () => (operand === undefined ? report(readBook(bookPath), Date.now()) : reportWhen(JSON.parse(operand) as Expected)),
  verify,
  connect: () => knock(Number(operand), host),
};
const chosen = commands[command ?? ""];
if (!chosen) throw new Error(`usage: ledger-writer ${Object.keys(commands).join("|")}`);
process.stdout.write(`${JSON.stringify(await chosen())}\n`);

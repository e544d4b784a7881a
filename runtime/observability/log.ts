// The log of the process: JSON lines of known fields. What is not known here does not reach a line, whatever it is.
import { type DestinationStream, type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { describeError } from "./describe-error.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** All fields that a line can have. A new one is a line here, and none of them may hold what a user keeps secret. */
const fieldTypes = {
  controller: "string",
  namespace: "string",
  name: "string",
  kind: "string",
  resource: "string",
  key: "string",
  reconcileId: "string",
  step: "string",
  reason: "string",
  problem: "string",
  check: "string",
  lease: "string",
  holder: "string",
  pod: "string",
  webhook: "string",
  method: "string",
  path: "string",
  user: "string",
  address: "string",
  signal: "string",
  version: "string",
  kubernetes: "string",
  attempt: "number",
  count: "number",
  code: "number",
  /** When it is tried again, in seconds. */
  after: "number",
  /** Seconds. */
  took: "number",
  error: "error",
} as const;

interface TypeOf {
  readonly string: string;
  readonly number: number;
  /** Whatever was caught. */
  readonly error: unknown;
}

type FieldTypes = typeof fieldTypes;
export type LogFields = { readonly [Name in keyof FieldTypes]?: TypeOf[FieldTypes[Name]] | undefined };

type Write = (fields: LogFields, message: string) => void;

export interface Log {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
  /** The same log with fields on each line; a line's own fields go before. */
  child(fields: LogFields): Log;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** For people in place of programs; if left out, when standard output is a terminal. */
  readonly pretty?: boolean;
  /** Standard output if left out. Takes one line at a time. */
  readonly destination?: DestinationStream;
  /** False: errors are logged without their stacks. */
  readonly stacks?: boolean;
}

/** Lines are written before the call returns, so that the last one before a crash is there. */
export function createLog({ level, pretty, destination, stacks = true }: LogOptions): Log {
  const output = destination ?? pino.destination({ fd: 1, sync: true });
  const forPeople = pretty ?? (destination === undefined && process.stdout.isTTY === true);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    forPeople ? prettyOutput(output) : output,
  );
  return boundLog(logger, {}, stacks);
}

/** Not pino's transport, which is a worker thread that loads a module by its name: the operator is one file. */
function prettyOutput(output: DestinationStream): DestinationStream {
  const prettify = prettyFactory({
    colorize: process.stdout.isTTY === true,
    errorLikeObjectKeys: ["error"],
    translateTime: "SYS:HH:MM:ss.l",
  });
  return { write: (line) => output.write(prettify(line)) };
}

type KnownFields = Readonly<Record<string, unknown>>;

/** The fields are held here and not by a child of pino's: that would write a field twice when a line has it as well. */
function boundLog(logger: Logger, bound: KnownFields, stacks: boolean): Log {
  const writer = (level: LogLevel): Write => {
    return (fields, message) => {
      if (logger.isLevelEnabled(level)) logger[level]({ ...bound, ...known(fields, stacks) }, String(message));
    };
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    child: (fields) => boundLog(logger, { ...bound, ...known(fields, stacks) }, stacks),
  };
}

const longestText = 4096;

/** Types are checked as well as names: a cast, or what a library calls any, must not bring an object in under a known name. */
function known(fields: LogFields, stacks: boolean): KnownFields {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields ?? {})) {
    const type = Object.hasOwn(fieldTypes, name) ? fieldTypes[name as keyof FieldTypes] : undefined;
    if (type === undefined || value === undefined || value === null) continue;
    if (type === "error") result[name] = describeError(value, { stack: stacks });
    else if (typeof value === type) result[name] = typeof value === "string" ? value.slice(0, longestText) : value;
  }
  return result;
}

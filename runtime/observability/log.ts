// The log of the process: JSON lines with known fields. A value under any other name never reaches a line.
import { type DestinationStream, type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { describeError } from "./describe-error.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** All fields that a line can have. To add one, add it here. No field may contain a user's secret. */
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
  /** Seconds until the next try. */
  after: "number",
  /** Seconds. */
  took: "number",
  error: "error",
} as const;

interface TypeOf {
  readonly string: string;
  readonly number: number;
  /** Any caught value. */
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
  /** The same log with these fields on each line; fields of a line take precedence. */
  child(fields: LogFields): Log;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Text for people. Default: if standard output is a terminal. */
  readonly pretty?: boolean;
  /** Receives one line at a time. Default: standard output. */
  readonly destination?: DestinationStream;
  /** False: errors are logged without their stacks. */
  readonly stacks?: boolean;
}

/** Each line is written before the call returns, so that the last one before a crash is not lost. */
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

/** Not pino's transport: that is a worker thread which loads a module by name, and the operator is bundled into one file. */
function prettyOutput(output: DestinationStream): DestinationStream {
  const prettify = prettyFactory({
    colorize: process.stdout.isTTY === true,
    errorLikeObjectKeys: ["error"],
    translateTime: "SYS:HH:MM:ss.l",
  });
  return { write: (line) => output.write(prettify(line)) };
}

type KnownFields = Readonly<Record<string, unknown>>;

/** Bound fields are kept here and not in a child of pino, which would write a field twice when a line has it too. */
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

/** Checks types as well as names: a cast, or an `any` of a library, must not bring an object in under a known name. */
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

// The parts of an error that a log line may contain: its name, its message and its origin, and no attached data.
import { types } from "node:util";
import { ApiError } from "../kube/errors.ts";

export interface ErrorDescription {
  readonly name: string;
  readonly message: string;
  /** Status and reason from the API server. */
  readonly code?: number;
  readonly reason?: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
  /** The parts of an AggregateError. */
  readonly errors?: readonly ErrorDescription[];
}

/** Limits: an error can be its own cause, and an aggregate can contain thousands. */
const most = { depth: 5, errors: 20, message: 4096, name: 128, frames: 30 };

interface Walk {
  readonly stack: boolean;
  /** How many more errors may be described. */
  left: number;
}

/**
 * Never throws, and its size is bounded. Bodies, headers, details and other properties that libraries attach to their errors are
 * left out: a new property can escape a deny-list, but not an allow-list.
 */
export function describeError(error: unknown, { stack = true }: { readonly stack?: boolean } = {}): ErrorDescription {
  try {
    return describe(error, 1, { stack, left: most.errors });
  } catch {
    return { name: "Error", message: "it could not be described" }; // a getter of the error throws
  }
}

function describe(error: unknown, depth: number, walk: Walk): ErrorDescription {
  walk.left--;
  if (!isError(error)) return describeOther(error);
  const message = String(error.message);
  const more = depth < most.depth && walk.left > 0;
  return {
    name: shorten(String(error.name), most.name),
    message: shorten(withoutQuotedInput(message), most.message),
    ...(error instanceof ApiError ? { code: error.code, reason: error.reason } : {}),
    ...(walk.stack && typeof error.stack === "string" ? { stack: frames(error.stack, message) } : {}),
    ...(more && error.cause !== undefined && error.cause !== null ? { cause: describe(error.cause, depth + 1, walk) } : {}),
    ...(more && error instanceof AggregateError ? { errors: describeAll(error.errors, depth + 1, walk) } : {}),
  };
}

function describeAll(errors: readonly unknown[], depth: number, walk: Walk): ErrorDescription[] {
  const described: ErrorDescription[] = [];
  for (const error of errors) {
    if (walk.left <= 0) break;
    described.push(describe(error, depth, walk));
  }
  return described;
}

function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error);
}

/** Any value can be thrown, even a Secret: unless it is an error or a text, only its type is shown. */
function describeOther(thrown: unknown): ErrorDescription {
  if (typeof thrown === "string") return { name: "string", message: shorten(withoutQuotedInput(thrown), most.message) };
  return { name: typeof thrown, message: "what was thrown is no Error" };
}

/**
 * JSON.parse quotes its input, which may be the middle of a Secret. Other errors include its message in theirs. Everything between the
 * first place where a quote can begin and the last where one ends is left out. A pattern for the whole would search for the end again
 * from each beginning, and messages of the API server quote the spec.
 */
function withoutQuotedInput(message: string): string {
  const begin = /, (?:\.\.\.)?"/.exec(message);
  const end = Math.max(message.lastIndexOf(`"${notJson}`), message.lastIndexOf(`"...${notJson}`));
  if (begin === null || end < begin.index + begin[0].length) return message;
  return `${message.slice(0, begin.index)}: not valid JSON${message.slice(message.indexOf(notJson, end) + notJson.length)}`;
}

const notJson = " is not valid JSON";

/** Only the frames: a stack begins with the message that the error had when it was created. */
function frames(stack: string, message: string): string {
  const begin = message === "" ? -1 : stack.indexOf(message);
  const lines = stack.slice(begin < 0 ? 0 : begin + message.length).split("\n");
  return lines
    .filter((line) => /^ {4}at /.test(line))
    .slice(0, most.frames)
    .join("\n");
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

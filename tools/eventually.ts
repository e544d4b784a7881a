// Waits for a condition, which is checked again and again until it holds or the deadline has passed.
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "./progress.ts";

/** The condition did not hold in time. The message is for people. */
export class DeadlineExceeded extends Refusal {
  override name = "DeadlineExceeded";
}

/**
 * Resolves to the first value that is neither undefined nor false. An error that the condition throws ends the wait; a condition
 * that may fail for a while must return undefined meanwhile.
 */
export async function eventually<T>(
  what: string,
  deadlineMs: number,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new DeadlineExceeded(`${what}: not so within ${deadlineMs / 1000} s`);
    await sleep(100);
  }
}

/** Repeats an attempt until it succeeds. If it never does, the last failure is the cause of the error. */
export async function eventuallySucceeds<T>(what: string, deadlineMs: number, attempt: () => Promise<T>): Promise<T> {
  let failure: unknown;
  const settled = await eventually(what, deadlineMs, () =>
    attempt().then(
      (value) => ({ value }),
      (error: unknown) => {
        failure = error;
        return undefined;
      },
    ),
  ).catch((error: Error) => {
    throw error instanceof DeadlineExceeded && failure instanceof Error
      ? new DeadlineExceeded(`${error.message}; at last: ${failure.message}`, { cause: failure })
      : error;
  });
  return settled.value;
}

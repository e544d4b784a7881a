// Waits for a condition, which is looked at again and again until it holds or the deadline has passed.
import { setTimeout as sleep } from "node:timers/promises";

export class DeadlineExceeded extends Error {
  override name = "DeadlineExceeded";
}

/**
 * Resolves to the first value that is neither undefined nor false. An error that the condition throws ends the wait;
 * a condition that may fail for a while returns undefined then.
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

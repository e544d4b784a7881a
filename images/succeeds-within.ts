// Runs a program with a bound on the time.
import { succeeds } from "../tools/command.ts";

/** Enough for the 30 MB of a base. If not, making the base here is faster than waiting on. */
export const secondsToPull = 20;

/** False also after a timeout: a registry behind a firewall neither answers nor refuses. */
export async function succeedsWithin(seconds: number, program: string, args: readonly string[]): Promise<boolean> {
  try {
    return await succeeds(program, args, { signal: AbortSignal.timeout(seconds * 1000) });
  } catch (error) {
    if ((error as Error).name === "AbortError") return false;
    throw error;
  }
}

// A question to something that may never answer, with a bound on the wait.
import { succeeds } from "../tools/command.ts";

/** Enough for the 30 MB of a base; where it is not, making the base here is faster than to go on waiting. */
export const secondsToPull = 20;

/** Also false when it takes too long: a registry behind a firewall neither answers nor refuses. */
export async function succeedsWithin(seconds: number, program: string, args: readonly string[]): Promise<boolean> {
  try {
    return await succeeds(program, args, { signal: AbortSignal.timeout(seconds * 1000) });
  } catch (error) {
    if ((error as Error).name === "AbortError") return false;
    throw error;
  }
}

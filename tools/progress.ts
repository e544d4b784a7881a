// Progress lines for people: the work, its duration, and one clear sentence when it fails.

/** A failure whose message is for the person at the terminal: the problem and what to do about it. */
export class Refusal extends Error {
  override name = "Refusal";
}

const started = performance.now();

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

export function say(line: string): void {
  process.stderr.write(`${seconds(performance.now() - started).padStart(8)}  ${line}\n`);
}

/** Prints the title before and the duration after; long work is repeated every half minute. */
export async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const begin = performance.now();
  say(`${title} …`);
  const reminder = setInterval(() => say(`${title}: still at it after ${seconds(performance.now() - begin)}`), 30_000);
  try {
    const result = await work();
    say(`${title}: done in ${seconds(performance.now() - begin)}`);
    return result;
  } finally {
    clearInterval(reminder);
  }
}

/** Runs a command line program: a Refusal prints one sentence and exits with 1; any other error prints its stack. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof Refusal ? `error: ${error.message}` : ((error as Error).stack ?? error)}\n`);
    process.exitCode = 1;
  }
}

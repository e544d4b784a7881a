// For tests: how the time that work takes grows with its input.

const repetitions = 5;
/** Eight times the input takes work of its length 8 times as long, and work of its square 64 times. */
const farLonger = 8;
const mostGrowth = 24;
/** Below it a measurement is noise. */
const leastMilliseconds = 3;

/** Of this thread's own time, which other processes do not take part in; and the fastest of some runs, for those with a collection of garbage. */
function fastest(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < repetitions; run++) {
    const begin = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(begin);
    best = Math.min(best, (user + system) / 1000);
    if (best <= leastMilliseconds) break;
  }
  return best;
}

/** Undefined when the time grows as the input does; otherwise what was measured. */
export function excessiveGrowth(length: number, work: (length: number) => unknown): string | undefined {
  const long = fastest(() => work(length));
  if (long <= leastMilliseconds) return undefined;
  const short = fastest(() => work(length / farLonger));
  if (long <= Math.max(short, leastMilliseconds) * mostGrowth) return undefined;
  return `${short.toFixed(1)} ms for ${length / farLonger}, ${long.toFixed(1)} ms for ${length}`;
}

// make bench-runtime: how many keys a second the engine "memory" takes and runs.
import { MemoryQueue } from "./memory-queue.ts";
import { done } from "./queue.ts";

const total = 1_000_000;
const concurrency = 16;

/** A busy operator: a million keys in bursts of 10,000 objects. And the worst start: a million different objects in one burst. */
export async function benchQueue(): Promise<{ keysPerSecond: number; keysPerSecondInOneBurst: number }> {
  return { keysPerSecond: await fastest(10_000), keysPerSecondInOneBurst: await fastest(total) };
}

/** The best of several rounds: the machine is shared, and delays by others must not count. */
async function fastest(burst: number): Promise<number> {
  const keys = Array.from({ length: burst }, (_, i) => `namespace-${i % 1000}/sampledb-${i}`);
  let best = 0;
  for (let round = 0; round < 5; round++) best = Math.max(best, await keysPerSecond(keys));
  return Math.round(best);
}

async function keysPerSecond(keys: readonly string[]): Promise<number> {
  const queue = new MemoryQueue("bench");
  let left = 0;
  let burst = Promise.withResolvers<void>();
  queue.start(async () => {
    await undefined; // like a read from the cache
    if (--left === 0) burst.resolve();
    return done;
  }, concurrency);
  const begin = performance.now();
  for (let ran = 0; ran < total; ran += keys.length) {
    burst = Promise.withResolvers();
    left = keys.length;
    for (const key of keys) queue.add(key);
    await burst.promise;
  }
  const seconds = (performance.now() - begin) / 1000;
  await queue.drain();
  return total / seconds;
}

if (import.meta.main) {
  const { keysPerSecond, keysPerSecondInOneBurst } = await benchQueue();
  process.stdout.write(`memory queue, bursts of 10,000 keys  ${keysPerSecond.toLocaleString("en")} keys/s added and run\n`);
  process.stdout.write(`memory queue, a million keys at once ${keysPerSecondInOneBurst.toLocaleString("en")} keys/s added and run\n`);
}

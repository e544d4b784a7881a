// make bench: the time in which the operator validates the largest sample, compared to parsing its JSON.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { checkSampleDB } from "../api/checks/sampledb.ts";
import { sampleDBSpec } from "../api/sampledb.ts";

const rounds = 2000;

const sample = parse(readFileSync(join(import.meta.dirname, "../config/samples/sampledb_everything.yaml"), "utf8")) as { spec: object };
const text = JSON.stringify(sample.spec);

/** The median of many rounds, in milliseconds: the machine is shared, and delays by others must not count. */
function median(work: () => unknown): number {
  for (let i = 0; i < rounds / 4; i++) work(); // warm up, as in an operator that has run for a while
  const times = Array.from({ length: rounds }, () => {
    const begin = performance.now();
    work();
    return performance.now() - begin;
  });
  return times.sort((a, b) => a - b)[rounds / 2] ?? 0;
}

const json = median(() => JSON.parse(text));
const structure = median(() => sampleDBSpec.parse(sample.spec));
const everything = median(() => checkSampleDB(sampleDBSpec.parse(sample.spec)));

for (const [name, time] of [
  ["JSON.parse", json],
  ["schema", structure],
  ["schema and checks", everything],
] as const) {
  process.stdout.write(`${name.padEnd(18)} ${time.toFixed(3)} ms  ${(time / json).toFixed(1)} times JSON.parse\n`);
}

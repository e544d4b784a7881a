// What two schedules each of a thousand databases cost the operator while nothing is due, beside the same databases without schedules. All of
// them archive, to repositories that answer that all is well.
import { say } from "../../tools/progress.ts";
import type { Figure } from "./figures.ts";
import { count, ManyDatabases } from "./many-databases.ts";

const zones = ["UTC", "Europe/Berlin", "America/New_York"];
const starts = 3;

export async function schedulesAtRest(): Promise<Figure[]> {
  await using databases = await ManyDatabases.start();
  await databases.make({ backup: {} });
  const without = await leastMemory(databases);
  await databases.change((index) => ({ backup: { schedules: schedulesOf(index) } }));
  const withSchedules = await leastMemory(databases);
  return [
    {
      ...{ what: `memory of the operator with two schedules of ${count} databases each`, unit: "MB", ours: withSchedules, peer: without },
      wanted: { mostAbovePeer: 25 },
    },
    ...(await databases.noise()),
    ...(await databases.noOp()),
  ];
}

/** Of several starts: what is above it is garbage that was not collected yet. */
async function leastMemory(databases: ManyDatabases): Promise<number> {
  const measured: number[] = [];
  for (let start = 0; start < starts; start++) {
    await databases.restartOperator();
    measured.push(databases.residentMegabytes);
  }
  say(`memory in MB: ${measured.map((one) => one.toFixed(0)).join(" ")}`);
  return Math.min(...measured);
}

/** Due once a year, so that none is due meanwhile. */
function schedulesOf(index: number): object[] {
  const timeZone = zones[index % zones.length];
  return [
    { name: "yearly", schedule: `${index % 60} 3 1 1 *`, timeZone },
    { name: "between", schedule: `${(index + 7) % 60} 2 1 7 *`, timeZone, type: "Incremental" },
  ];
}

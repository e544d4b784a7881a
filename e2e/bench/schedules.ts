// What two schedules each of a thousand SampleDBs cost while nothing is due: memory, and the CPU of a look. In this process and without an API
// server, because the Pods of kwok's nodes have no repository that could answer.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sampleDBSpec } from "../../api/sampledb.ts";
import { apiVersion } from "../../api/version.ts";
import type { SampleDB } from "../../controllers/kinds/sampledb-io.ts";
import { planOf } from "../../controllers/sampledb/schedules/plan.ts";
import { overlooked } from "../../controllers/sampledb/schedules/sweep.ts";
import { type Figure, median } from "./figures.ts";

const count = Number(process.env["DATABASES"] ?? 1000);
const zones = ["UTC", "Europe/Berlin", "America/New_York"];
const rounds = 9;

export function schedulesAtRest(): Figure[] {
  const empty = heapMegabytes();
  const plain = Array.from({ length: count }, (_, index) => database(index, {}));
  const without = heapMegabytes() - empty;
  const scheduled = Array.from({ length: count }, (_, index) => told(database(index, { schedules: schedulesOf(index) })));
  const withSchedules = heapMegabytes() - empty - without;
  const looks = Array.from({ length: rounds }, () => look(scheduled));
  return [
    {
      what: `memory of two schedules of ${plain.length} SampleDBs each`,
      unit: "MB",
      ours: withSchedules - without,
      wanted: { most: 25 },
    },
    {
      what: "CPU of a look at two schedules",
      unit: "ms",
      ours: median(looks.map(({ milliseconds }) => milliseconds)),
      wanted: { most: 1 },
    },
    { what: "SampleDBs that the sweep enqueues", unit: "", ours: Math.max(...looks.map(({ found }) => found)), wanted: { most: 0 } },
  ];
}

function schedulesOf(index: number): object[] {
  const timeZone = zones[index % zones.length];
  return [
    { name: "weekly", schedule: `${index % 60} 3 * * 0`, timeZone },
    { name: "daily", schedule: `${(index + 7) % 60} 2 * * *`, timeZone, type: "Incremental" },
  ];
}

/** As it comes out of a watch: no two objects share a part. */
function database(index: number, backup: object): SampleDB {
  const spec = sampleDBSpec.parse({ postgresVersion: 17, storage: { size: "1Gi" }, backup });
  const metadata = { name: `db-${index}`, namespace: "default", uid: `uid-${index}` };
  return JSON.parse(JSON.stringify({ apiVersion, kind: "SampleDB", metadata, spec })) as SampleDB;
}

function told(db: SampleDB): SampleDB {
  const schedules = db.spec.backup?.schedules ?? [];
  const { states } = planOf({ schedules, told: [], now: new Date(), hibernated: false, open: () => undefined });
  return { ...db, status: { schedules: states } };
}

/** CPU for each SampleDB: the sweep runs the decision that the reconcile runs. */
function look(all: readonly SampleDB[]): { readonly found: number; readonly milliseconds: number } {
  const before = process.cpuUsage();
  const found = overlooked(all, new Date()).length;
  const { user, system } = process.cpuUsage(before);
  return { found, milliseconds: (user + system) / 1000 / all.length };
}

function heapMegabytes(): number {
  setFlagsFromString("--expose_gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed / 1e6;
}

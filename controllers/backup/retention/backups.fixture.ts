// For tests of retention: Backups that ended, written as short words.
import type { Backup } from "../../kinds/sampledb-io.ts";
import { backup, ended } from "../backup.fixture.ts";
import type { Policy } from "./beyond.ts";

export const uid = "11111111-1111-1111-1111-111111111111";
export const other = "22222222-2222-2222-2222-222222222222";

export interface Short {
  readonly name: string;
  /** The day of its end, counted from the first one. */
  readonly day: number;
  /** The name of the full one that it builds on. */
  readonly on?: string | undefined;
  readonly failed?: boolean;
  readonly retain?: boolean;
  readonly generation?: number;
  readonly uid?: string;
  /** The policy of the SampleDB when it was made. */
  readonly policy?: Policy;
}

const time = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
const stamp = (day: number) => time(day).replace(/[-:]/g, "").replace("T", "-").slice(0, 15);

export function made(policy: Policy, ...all: readonly Short[]): Backup[] {
  const fulls = new Map(all.filter(({ on }) => on === undefined).map((full) => [full.name, full]));
  return all.map((each) => {
    const { name, day, on, failed = false, retain = false, generation = 1 } = each;
    const full = on === undefined ? each : fulls.get(on);
    const label = on === undefined ? `${stamp(day)}F` : `${stamp(full?.day ?? 0)}F_${stamp(day)}I`;
    const status = ended(failed ? "False" : "True", {
      ...{ startTime: time(day), completionTime: time(day), repository: { stanza: `${each.uid ?? uid}-17-${generation}` } },
      ...(failed ? {} : { label, consistentTime: time(day) }),
      sampleDBSpec: { backup: { retention: each.policy ?? policy } },
    });
    const spec = { sampleDBName: "orders", type: "Full", deletionPolicy: retain ? "Retain" : "Delete" } as const;
    return backup(name, { status, spec, metadata: { creationTimestamp: time(day) } });
  });
}

// The settings of each major's server, from its pg_settings. tools/postgres-settings.ts refreshes them.
import type { SampleDBSpec } from "../sampledb.ts";
import settings15 from "./settings-15.json" with { type: "json" };
import settings17 from "./settings-17.json" with { type: "json" };

export type Major = SampleDBSpec["postgresVersion"];

export interface Setting {
  readonly name: string;
  readonly vartype: "bool" | "enum" | "integer" | "real" | "string";
  readonly context: "internal" | "postmaster" | "sighup" | "backend" | "superuser-backend" | "superuser" | "user";
  /** The unit of a number without one, such as 8kB. */
  readonly unit?: string;
  readonly min_val?: string;
  readonly max_val?: string;
  readonly enumvals?: readonly string[];
}

/** By the name in lower case: PostgreSQL ignores case. */
function byName(settings: readonly Setting[]): ReadonlyMap<string, Setting> {
  return new Map(settings.map((setting) => [setting.name.toLowerCase(), setting]));
}

const lists: Readonly<Record<Major, ReadonlyMap<string, Setting>>> = {
  15: byName(settings15 as readonly Setting[]),
  17: byName(settings17 as readonly Setting[]),
};

export function settingsOf(major: Major): ReadonlyMap<string, Setting> {
  return lists[major];
}

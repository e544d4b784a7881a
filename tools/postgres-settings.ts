// node tools/postgres-settings.ts: reads the settings of each major's real server and stores them for the checks under api/.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { imageArchive } from "../images/archive.ts";
import { storage } from "../images/buildah.ts";
import { chooseBuilder } from "../images/builder.ts";
import { postgresImage } from "../images/catalog.ts";
import { run } from "./command.ts";
import { withLock } from "./lock.ts";
import { Refusal, runProgram, say, step } from "./progress.ts";

export const settingsMajors = ["15", "17"] as const;
export type SettingsMajor = (typeof settingsMajors)[number];

/** The file with a major's settings. */
export function settingsFile(major: SettingsMajor): string {
  return join(import.meta.dirname, `../api/postgresql/settings-${major}.json`);
}

/**
 * Prints the settings as a JSON array, one a line, in an order that no locale changes. Settings of extensions, which have a dot,
 * are left out: they depend on what is preloaded. Null values are left out.
 */
const query = `
select '[' || chr(10) || string_agg(json_strip_nulls(json_build_object(
  'name', name, 'vartype', vartype, 'unit', unit, 'min_val', min_val, 'max_val', max_val, 'enumvals', enumvals, 'context', context
))::text, ',' || chr(10) order by name collate "C") || chr(10) || ']'
from pg_settings where position('.' in name) = 0`;

/** A bash script for a container of the image: starts a server without TCP, which is gone when the script ends. */
export function settingsScript(major: SettingsMajor): string {
  return `
set -eu
bin=/usr/lib/postgresql/${major}/bin
work=$(mktemp -d /tmp/settings.XXXXXX)
trap '"$bin/pg_ctl" -D "$work/data" -m immediate stop >&2 || true; rm -rf "$work"' EXIT
"$bin/initdb" -D "$work/data" --auth=trust --username=postgres --no-sync >&2
"$bin/pg_ctl" -D "$work/data" -w -l "$work/log" -o "-k $work -c listen_addresses= -c shared_buffers=16MB" start >&2
"$bin/psql" -h "$work" -U postgres -d postgres -v ON_ERROR_STOP=1 -XAt <<'SQL'
${query};
SQL
`;
}

const databaseUser = "10001:0"; // as in a Pod: the server refuses to run as root

async function askServer(major: SettingsMajor): Promise<string> {
  const { reference, archive } = await imageArchive(postgresImage(major));
  const builder = await chooseBuilder();
  const script = ["bash", "-c", settingsScript(major)];
  // A build that ends meanwhile would remove this container, so builds wait for the same lock.
  return withLock("images", `asking ${reference} for its settings`, async () => {
    await builder.load(archive);
    if (builder.name === "docker") return run("docker", ["run", "--rm", "--user", databaseUser, reference, ...script]);
    const container = (await run("buildah", [...storage, "from", "--pull-never", reference])).trim();
    try {
      return await run("buildah", [...storage, "run", "--isolation", "chroot", "--user", databaseUser, container, "--", ...script]);
    } finally {
      await run("buildah", [...storage, "rm", container]);
    }
  });
}

if (import.meta.main) {
  await runProgram(async () => {
    for (const major of settingsMajors) {
      const settings = await step(`asking PostgreSQL ${major} for its settings`, () => askServer(major));
      const count = (JSON.parse(settings) as unknown[]).length;
      if (count < 200) throw new Refusal(`PostgreSQL ${major} told only ${count} settings; it has more than 300`);
      writeFileSync(settingsFile(major), settings);
      say(`${count} settings of PostgreSQL ${major}`);
    }
  });
}

// The alerts of backups, by promtool: each fires when it should and is silent when it should. No cluster is needed.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { run } from "../../tools/command.ts";
import { promtool } from "../../tools/promtool.ts";

interface Rule {
  readonly alert: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const file = readFileSync(join(import.meta.dirname, "alerts.yaml"), "utf8");
const { spec } = parse(file) as { spec: { groups: readonly { readonly rules: readonly Rule[] }[] } };
const rules = spec.groups.flatMap((group) => group.rules);
const directory = mkdtempSync(join(tmpdir(), "sampledb-alerts-"));
let program: string;

beforeAll(async () => {
  program = await promtool();
  writeFileSync(join(directory, "rules.yaml"), stringify(spec));
});

afterAll(() => rmSync(directory, { recursive: true }));

/** Series by name, as promtool writes values over minutes: `0x60` is sixty-one zeros, `0+60x9` grows. Time begins at 0. */
type Series = Readonly<Record<string, string>>;

/** The alerts that fire after so many minutes. */
async function firing(alert: string, series: Series, minutes: number): Promise<boolean> {
  const rule = rules.find((one) => one.alert === alert);
  const labels = { namespace: "shop", name: "orders" };
  const expected = { ...labels, ...rule?.labels };
  const ask = async (exp_alerts: readonly object[]) => {
    const name = join(directory, "test.yaml");
    const input_series = Object.entries(series).map(([metric, values]) => ({
      series: `${metric}{namespace="shop",name="orders"}`,
      values,
    }));
    const rule_test = { eval_time: `${minutes}m`, alertname: alert, exp_alerts };
    writeFileSync(name, stringify({ rule_files: ["rules.yaml"], tests: [{ interval: "1m", input_series, alert_rule_test: [rule_test] }] }));
    return await run(program, ["test", "rules", name], { cwd: directory }).then(
      () => true,
      () => false,
    );
  };
  if (await ask([])) return false;
  const value = series["sampledb_backup_failures"]?.split("x")[0] ?? series["sampledb_archive_gaps"]?.split("x")[0] ?? "";
  const exp_annotations = Object.fromEntries(
    Object.entries(rule?.annotations ?? {}).map(([key, text]) => [
      key,
      text.replaceAll("{{ $labels.namespace }}", "shop").replaceAll("{{ $labels.name }}", "orders").replaceAll("{{ $value }}", value),
    ]),
  );
  expect(await ask([{ exp_labels: expected, exp_annotations }]), `${alert} fires with its labels and annotations`).toBe(true);
  return true;
}

test("promtool finds nothing wrong with the rules", async () => {
  expect(await run(program, ["check", "rules", "rules.yaml"], { cwd: directory })).toContain("SUCCESS");
});

const hours = (count: number) => count * 60;
const gib = 1024 ** 3;

test.each<[string, string, Series, number, boolean]>([
  // The last good one is too old at minute 60, and an hour is left to the second slot's Backup.
  [
    "SampleDBBackupTooOld",
    "an hour and more after the second slot",
    { sampledb_backup_due_timestamp_seconds: "3600x300" },
    hours(2) + 10,
    true,
  ],
  [
    "SampleDBBackupTooOld",
    "while the second slot's Backup may still run",
    { sampledb_backup_due_timestamp_seconds: "3600x300" },
    hours(2) - 1,
    false,
  ],
  ["SampleDBBackupTooOld", "after a good one", { sampledb_backup_due_timestamp_seconds: "3600x60 180000x300" }, hours(3), false],
  ["SampleDBBackupTooOld", "without schedules", { sampledb_ready: "1x300" }, hours(3), false],
  ["SampleDBBackupFailed", "after a failure", { sampledb_backup_failures: "1x30" }, 5, true],
  ["SampleDBBackupFailed", "after a good one", { sampledb_backup_failures: "1x3 0x30" }, 10, false],
  ["SampleDBArchiveLagging", "with segments that wait for long", { sampledb_archive_lag_seconds: "0+60x30" }, 20, true],
  ["SampleDBArchiveLagging", "with an archive that is not healthy", { sampledb_archiving_healthy: "0x30" }, 10, true],
  [
    "SampleDBArchiveLagging",
    "with segments that arrive",
    { sampledb_archive_lag_seconds: "30x30", sampledb_archiving_healthy: "1x30" },
    20,
    false,
  ],
  ["SampleDBArchiveLagging", "in a short outage", { sampledb_archive_lag_seconds: "0+60x7 0x30" }, 15, false],
  ["SampleDBWALGap", "with gaps", { sampledb_archive_gaps: "2x30", sampledb_archive_complete: "0x30" }, 10, true],
  ["SampleDBWALGap", "after a full backup", { sampledb_archive_gaps: "2x30", sampledb_archive_complete: "0x12 1x18" }, 15, false],
  ["SampleDBWALGap", "without", { sampledb_archive_gaps: "0x30" }, 10, false],
  [
    "SampleDBRepositoryNearlyFull",
    "with a twentieth left",
    { sampledb_repository_available_bytes: `${gib}x60`, sampledb_repository_size_bytes: `${20 * gib}x60` },
    30,
    true,
  ],
  [
    "SampleDBRepositoryNearlyFull",
    "with half left that goes within a day",
    { sampledb_repository_available_bytes: `${10 * gib}-${gib / 100}x400`, sampledb_repository_size_bytes: `${20 * gib}x400` },
    hours(6),
    true,
  ],
  [
    "SampleDBRepositoryNearlyFull",
    "with half left",
    { sampledb_repository_available_bytes: `${10 * gib}x400`, sampledb_repository_size_bytes: `${20 * gib}x400` },
    hours(6),
    false,
  ],
  ["SampleDBRepositoryUnreachable", "when the probe fails", { sampledb_repository_probe_success: "0x30" }, 15, true],
  ["SampleDBRepositoryUnreachable", "when it succeeds", { sampledb_repository_probe_success: "1x30" }, 15, false],
])("%s %s", async (alert, _, series, minutes, fires) => {
  expect(await firing(alert, series, minutes)).toBe(fires);
});

test("every alert says what to do, and the runbooks that alerts name are there with their four parts", () => {
  for (const { alert, annotations } of rules) {
    expect(annotations["summary"], alert).toBeTruthy();
    const page = annotations["runbook"];
    if (page === undefined) continue;
    const path = join(import.meta.dirname, "../..", page);
    expect(existsSync(path), page).toBe(true);
    expect(readFileSync(path, "utf8").match(/^## .*$/gm), page).toEqual(["## Meaning", "## Impact", "## Check", "## Fix"]);
  }
});

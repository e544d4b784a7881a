import { expect, test } from "vitest";
import { lowestValues, ownedParameters } from "../postgresql/owned-parameters.ts";
import { settingsOf } from "../postgresql/settings.ts";
import { parameters } from "./parameters.ts";

const faults = (values: Record<string, string | number>, major: 15 | 17 = 17) =>
  [...parameters(values, major, "p")].map(({ field, message }) => `${field}: ${message}`);

test.each<[string, string | number]>([
  ["work_mem", "64MB"],
  ["work_mem", 4096],
  ["work_mem", "1.5GB"],
  ["work_mem", " 64 MB "],
  ["shared_buffers", "1GB"],
  ["shared_buffers", "128kB"],
  ["max_wal_size", "1TB"],
  ["wal_keep_size", "16MB"],
  ["statement_timeout", "1d"],
  ["statement_timeout", "500us"],
  ["statement_timeout", "1.5min"],
  ["log_min_duration_statement", -1],
  ["autovacuum_vacuum_scale_factor", "0.05"],
  ["random_page_cost", "1.1"],
  ["random_page_cost", ".5e1"],
  ["vacuum_cost_delay", "2ms"],
  ["max_connections", "1e2"],
  ["autovacuum", "ON"],
  ["autovacuum", 1],
  ["jit", "no"],
  ["synchronous_commit", "remote_apply"],
  ["synchronous_commit", "Off"],
  ["timezone", "Europe/Berlin"],
  ["shared_preload_libraries", "pg_stat_statements,auto_explain"],
  ["track_commit_timestamp", "on"],
  ["pg_stat_statements.max", 10_000],
  ["MyExtension.Some_setting", "anything"],
])("%s = %s is right", (name, value) => expect(faults({ [name]: value })).toEqual([]));

test.each<[string, string | number, string]>([
  ["work_mem", "1kB", '"1kB" is out of range; allowed are 64 to 2147483647 in units of kB, or with one of the units B, kB, MB, GB, TB'],
  ["work_mem", "64mb", '"64mb" is not an integer with or without a unit; allowed are 64 to'],
  ["work_mem", "10s", '"10s" is not an integer with or without a unit'],
  ["work_mem", "3TB", '"3TB" is out of range'],
  ["work_mem", "0x10000", '"0x10000" is not an integer'],
  ["log_temp_files", "-.5", '"-.5" is not an integer with or without a unit; allowed are -1 to'],
  ["work_mem", "", '"" is not an integer'],
  ["statement_timeout", "1 hour", "allowed are 0 to 2147483647 in units of ms, or with one of the units us, ms, s, min, h, d"],
  ["max_connections", "100MB", '"100MB" is not an integer; allowed are 25 to 262143'],
  ["max_connections", 24, "24 is out of range; allowed are 25 to 262143"],
  ["max_wal_senders", 3, "3 is out of range; allowed are 10 to 262143"],
  ["wal_keep_size", 0, "0 is out of range; allowed are 16 to 2147483647 in units of MB"],
  ["random_page_cost", -1, "-1 is out of range; allowed are 0 to 1.79769e+308"],
  ["random_page_cost", "cheap", '"cheap" is not a number; allowed are 0 to'],
  ["autovacuum", "maybe", '"maybe" is neither true nor false; allowed are on, off, true, false, yes, no, 1, 0'],
  ["autovacuum", 2, "2 is neither true nor false"],
  ["synchronous_commit", "always", '"always" is not allowed; allowed are local, remote_write, remote_apply, on, off'],
  ["timezone", "UTC\nport = 1", '"UTC\\nport = 1" has a line end in it; allowed is text of one line'],
  ["a.b", "1\n2", '"1\\n2" has a line end in it'],
  ["workmem", 1, '"workmem" is not a setting of PostgreSQL 17; did you mean work_mem?'],
  ["nothing_like_it", 1, '"nothing_like_it" is not a setting of PostgreSQL 17; allowed are its settings, and an extension\'s with a dot'],
  ["Work_Mem", "64MB", '"Work_Mem" has capital letters; write work_mem'],
  ["TimeZone", "UTC", '"TimeZone" has capital letters; write timezone'],
  ["server_version", "17", '"server_version" is read-only'],
  ["block_size", 8192, '"block_size" is read-only'],
  ["listen_addresses", "*", '"listen_addresses" can\'t be set: the Services lead to where'],
  ["Archive_Command", "x", '"Archive_Command" can\'t be set: the operator archives the write-ahead log; see spec.backup; leave it out'],
  ["synchronous_standby_names", "*", "can't be set: set spec.synchronousReplication in place of it"],
  ["ssl_cert_file", "x", "can't be set: the operator makes the certificates"],
  ["fsync", "off", "can't be set: without it a crash loses or corrupts data"],
  ["a.b = 1\nport", 1, "is not a setting's name; allowed are letters, digits and _ around each dot"],
  [".x", 1, '".x" is not a setting\'s name'],
  ["a.", 1, '"a." is not a setting\'s name'],
  ["constructor", 1, '"constructor" is not a setting of PostgreSQL 17'],
  [
    "superuser_reserved_connections",
    100,
    "100 leaves no connection to users; superuser_reserved_connections and reserved_connections together must be below max_connections, which is 100",
  ],
])("%j = %j is refused: %s", (name, value, message) => {
  const [fault = "", ...more] = faults({ [name]: value });
  expect(fault).toContain(`p[${name}]: `);
  expect(fault).toContain(message);
  expect(more).toEqual([]);
});

test("each major has its own settings", () => {
  expect(faults({ summarize_wal: "on" }, 17)).toEqual([]);
  expect(faults({ summarize_wal: "on" }, 15)).toEqual([expect.stringContaining('"summarize_wal" is not a setting of PostgreSQL 15')]);
  expect(faults({ vacuum_defer_cleanup_age: 0 }, 15)).toEqual([]);
  expect(faults({ vacuum_defer_cleanup_age: 0 }, 17)).toEqual([expect.stringContaining("is not a setting of PostgreSQL 17")]);
});

test("every setting with special treatment is one that a server has", () => {
  const known = new Set([...settingsOf(15).keys(), ...settingsOf(17).keys()]);
  expect([...ownedParameters.keys(), ...lowestValues.keys()].filter((name) => !known.has(name))).toEqual([]);
  expect([...lowestValues.keys()].filter((name) => ownedParameters.has(name))).toEqual([]);
});

test("families of settings are owned as a whole", () => {
  const owned = /^(ssl|recovery_target|syslog|unix_socket|bonjour)(_|$)/;
  for (const major of [15, 17] as const) {
    expect(
      [...settingsOf(major).values()].filter(
        ({ name, context }) => owned.test(name) && context !== "internal" && !ownedParameters.has(name),
      ),
    ).toEqual([]);
  }
});

test("the smallest and the largest value of every setting are allowed", () => {
  for (const major of [15, 17] as const) {
    for (const { name, context, vartype, min_val, max_val } of settingsOf(major).values()) {
      if (context === "internal" || ownedParameters.has(name) || min_val === undefined || max_val === undefined) continue;
      const values = lowestValues.has(name) ? [max_val] : [min_val, max_val];
      const wrong = values.filter((value) =>
        faults({ [name]: value, max_connections: 262_143 }, major).some((fault) => fault.startsWith(`p[${name}]: "${value}" is`)),
      );
      expect([name, vartype, wrong]).toEqual([name, vartype, []]);
    }
  }
});

test("a spec full of nonsense is refused at once", () => {
  const nonsense = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`max_connection_${index}`, 1]));
  const begin = performance.now();
  expect(faults(nonsense)).toHaveLength(256);
  expect(performance.now() - begin).toBeLessThan(200);
});

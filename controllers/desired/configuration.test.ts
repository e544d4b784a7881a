import { describe, expect, test } from "vitest";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import { dynamicConfig, hostBasedAuthentication, parameters, patroniConfig } from "./configuration.ts";
import { sampleDB } from "./sampledb.fixture.ts";

const settings = ({ metadata }: ConfigMap) => JSON.parse(metadata.annotations?.["config"] ?? "");
const stage = { since: "since", initialized: true };
const dynamic = (spec: Parameters<typeof sampleDB>[0] = {}) => settings(dynamicConfig(sampleDB(spec), stage));

describe("parameters", () => {
  const owned = Object.keys(parameters(sampleDB())).filter(
    (name) =>
      !["shared_buffers", "max_connections", "max_wal_senders", "max_replication_slots", "wal_retrieve_retry_interval"].includes(name),
  );

  test.each(owned)("%s is the operator's, whatever a user sets", (name) => {
    expect(parameters(sampleDB({ postgresql: { parameters: { [name]: "theirs" } } }))[name]).toBe(parameters(sampleDB())[name]);
  });

  test("the operator owns the parameters that replication and TLS need", () => {
    expect(owned).toEqual(expect.arrayContaining(["wal_level", "archive_mode", "archive_command", "ssl", "ssl_key_file", "hot_standby"]));
  });

  test("a user's parameter replaces the operator's default", () => {
    const mine = { max_connections: 300, shared_buffers: "1GB", work_mem: "8MB", "my.setting": "x" };
    expect(parameters(sampleDB({ postgresql: { parameters: mine } }))).toMatchObject(mine);
  });

  test.each([
    [undefined, "128MB"],
    [{ limits: { memory: "1Gi" } }, "256MB"],
    [{ requests: { memory: "2Gi" } }, "512MB"],
    [{ requests: { memory: "1Gi" }, limits: { memory: "4Gi" } }, "1024MB"],
    [{ limits: { memory: "32Mi" } }, "16MB"],
    [{ limits: { cpu: 1 } }, "128MB"],
  ])("shared_buffers with resources %j is %s", (resources, expected) => {
    expect(parameters(sampleDB(resources ? { resources } : {}))["shared_buffers"]).toBe(expected);
  });
});

describe("pg_hba.conf", () => {
  const ours = hostBasedAuthentication(sampleDB({ postgresql: { hba: [] } }));

  test("has the operator's lines first, so that no user can lock Patroni and the replicas out", () => {
    const lines = hostBasedAuthentication(sampleDB({ postgresql: { hba: ["host all all all reject"] } }));
    expect(lines).toEqual([...ours, "host all all all reject"]);
  });

  test("lets superuser and replication in over TLS, and refuses them without it", () => {
    for (const user of ["postgres", "replication"]) {
      const theirs = ours.filter((line) => line.split(" ")[2] === user && !line.startsWith("local"));
      expect(theirs.map((line) => [line.split(" ")[0], line.split(" ").at(-1)])).toEqual([
        ["hostssl", "scram-sha-256"],
        ["host", "reject"],
      ]);
    }
    expect(ours.filter((line) => /trust|md5|password/.test(line))).toEqual([]);
  });

  test("has the user's lines in place of the open last line", () => {
    expect(hostBasedAuthentication(sampleDB()).at(-1)).toBe("host all all all scram-sha-256");
    expect(hostBasedAuthentication(sampleDB({ postgresql: { hba: ["hostssl all all all scram-sha-256"] } }))).not.toContain(
      "host all all all scram-sha-256",
    );
  });
});

describe("Patroni's settings", () => {
  test.each([
    ["Disabled", "off", false],
    ["Preferred", "quorum", false],
    ["Required", "quorum", true],
  ] as const)("synchronousReplication %s becomes synchronous_mode %s", (synchronousReplication, mode, strict) => {
    expect(dynamic({ synchronousReplication, replicas: 2 })).toMatchObject({ synchronous_mode: mode, synchronous_mode_strict: strict });
  });

  test.each([
    ["Disabled", "off", false],
    ["Preferred", "on", false],
    ["Required", "on", true],
  ] as const)(
    "synchronousReplication %s becomes synchronous_mode %s while an instance makes the data",
    (synchronousReplication, mode, strict) => {
      const making = settings(dynamicConfig(sampleDB({ synchronousReplication, replicas: 2 }), { ...stage, initialized: false }));
      expect(making).toMatchObject({ synchronous_mode: mode, synchronous_mode_strict: strict });
    },
  );

  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 2],
    [9, 4],
  ])("with %i instances, a commit waits for %i replicas, which are a majority together with the primary", (replicas, count) => {
    expect(dynamic({ replicas })).toMatchObject({ synchronous_node_count: count });
  });

  test.each([
    ["Required", 3, 0],
    ["Preferred", 2, 0],
    ["Preferred", 1, 300],
    ["Disabled", 3, 300],
  ] as const)("with synchronousReplication %s and %i instances, a crashed primary gets %i s to recover", (mode, replicas, seconds) => {
    expect(dynamic({ synchronousReplication: mode, replicas })).toMatchObject({ primary_start_timeout: seconds });
  });

  test("fit loop_wait and two retry_timeouts into ttl, and turn failsafe_mode on", () => {
    const { ttl, loop_wait, retry_timeout, failsafe_mode } = dynamic();
    expect(loop_wait + 2 * retry_timeout).toBeLessThanOrEqual(ttl);
    expect(failsafe_mode).toBe(true);
  });

  test("are the same text for the same spec, or every reconcile would write them", () => {
    expect(dynamicConfig(sampleDB(), stage)).toEqual(dynamicConfig(sampleDB(), stage));
  });

  test("in the file of an instance are JSON, name this database and have no password", () => {
    const local = JSON.parse(patroniConfig(sampleDB()).data?.["patroni.yaml"] ?? "");
    expect(local).toMatchObject({ scope: "orders", postgresql: { bin_dir: "/usr/lib/postgresql/17/bin" } });
    expect(local.postgresql.authentication).toEqual({
      superuser: { username: "postgres", sslmode: "verify-ca", sslrootcert: "/etc/sampledb/tls/ca.crt" },
      replication: { username: "replication", sslmode: "verify-ca", sslrootcert: "/etc/sampledb/tls/ca.crt" },
    });
  });

  test("tell the instances beside Patroni's file which segments are let go, and have no such file otherwise", () => {
    const letGo = { systemIdentifier: "7300000000000000001", last: "000000010000000000000042" };
    expect(patroniConfig(sampleDB(), letGo).data?.["archive-let-go"]).toBe("7300000000000000001 000000010000000000000042\n");
    expect(patroniConfig(sampleDB()).data).not.toHaveProperty("archive-let-go");
  });
});

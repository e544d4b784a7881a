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

  test("what replication and TLS stand on is among the operator's", () => {
    expect(owned).toEqual(expect.arrayContaining(["wal_level", "archive_mode", "archive_command", "ssl", "ssl_key_file", "hot_standby"]));
  });

  test("the user's come before the operator's suggestions", () => {
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

describe("host-based authentication", () => {
  const ours = hostBasedAuthentication(sampleDB({ postgresql: { hba: [] } }));

  test("the operator's own lines come first, so that nobody can lock it, Patroni and the replicas out", () => {
    const lines = hostBasedAuthentication(sampleDB({ postgresql: { hba: ["host all all all reject"] } }));
    expect(lines).toEqual([...ours, "host all all all reject"]);
  });

  test("superuser and replication come over TLS only: what lets them in without comes before what refuses them", () => {
    for (const user of ["postgres", "replication"]) {
      const theirs = ours.filter((line) => line.split(" ")[2] === user && !line.startsWith("local"));
      expect(theirs.map((line) => [line.split(" ")[0], line.split(" ").at(-1)])).toEqual([
        ["hostssl", "scram-sha-256"],
        ["host", "reject"],
      ]);
    }
    expect(ours.filter((line) => /trust|md5|password/.test(line))).toEqual([]);
  });

  test("the open last line gives way to the user's own", () => {
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
  ] as const)("synchronousReplication %s", (synchronousReplication, mode, strict) => {
    expect(dynamic({ synchronousReplication, replicas: 2 })).toMatchObject({ synchronous_mode: mode, synchronous_mode_strict: strict });
  });

  test.each([
    ["Disabled", "off", false],
    ["Preferred", "on", false],
    ["Required", "on", true],
  ] as const)("synchronousReplication %s while the database is made: not yet a quorum", (synchronousReplication, mode, strict) => {
    const making = settings(dynamicConfig(sampleDB({ synchronousReplication, replicas: 2 }), { ...stage, initialized: false }));
    expect(making).toMatchObject({ synchronous_mode: mode, synchronous_mode_strict: strict });
  });

  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 2],
    [9, 4],
  ])("of %i instances a commit waits for %i replicas, a majority with the primary", (replicas, count) => {
    expect(dynamic({ replicas })).toMatchObject({ synchronous_node_count: count });
  });

  test.each([
    ["Required", 3, 0],
    ["Preferred", 2, 0],
    ["Preferred", 1, 300],
    ["Disabled", 3, 300],
  ] as const)(
    "a crashed primary, %s and %i: a replica leads after %i s, at once only where it has everything",
    (mode, replicas, seconds) => {
      expect(dynamic({ synchronousReplication: mode, replicas })).toMatchObject({ primary_start_timeout: seconds });
    },
  );

  test("keep to Patroni's own rule, and serve on without the API server", () => {
    const { ttl, loop_wait, retry_timeout, failsafe_mode } = dynamic();
    expect(loop_wait + 2 * retry_timeout).toBeLessThanOrEqual(ttl);
    expect(failsafe_mode).toBe(true);
  });

  test("the same spec is the same text, or every reconcile would write it", () => {
    expect(dynamicConfig(sampleDB(), stage)).toEqual(dynamicConfig(sampleDB(), stage));
  });

  test("what an instance starts with is JSON, names this database and holds no password", () => {
    const local = JSON.parse(patroniConfig(sampleDB()).data?.["patroni.yaml"] ?? "");
    expect(local).toMatchObject({ scope: "orders", postgresql: { bin_dir: "/usr/lib/postgresql/17/bin" } });
    expect(local.postgresql.authentication).toEqual({
      superuser: { username: "postgres", sslmode: "verify-ca", sslrootcert: "/etc/sampledb/tls/ca.crt" },
      replication: { username: "replication", sslmode: "verify-ca", sslrootcert: "/etc/sampledb/tls/ca.crt" },
    });
  });
});

// Answers of Patroni 4.0.7 with PostgreSQL 15, verbatim, and answers that an attacker could send in their place.
import { expect, test } from "vitest";
import { parseStatus } from "./patroni-status.ts";

const primary = `{"state": "running", "postmaster_start_time": "2026-11-16 08:58:24.225198+00:00", "role": "primary", "server_version": 150018, "xlog": {"location": 50331744}, "timeline": 1, "replication": [{"usename": "rep", "application_name": "orders-1", "client_addr": "127.0.0.1", "state": "streaming", "sync_state": "async", "sync_priority": 0}], "dcs_last_seen": 1794819519, "database_system_identifier": "7708691062180026588", "pending_restart": true, "pending_restart_reason": {"archive_mode": {"old_value": "off", "new_value": "on"}, "shared_buffers": {"old_value": "16MB", "new_value": "20MB"}}, "patroni": {"version": "4.0.7", "scope": "orders", "name": "orders-0"}}`;
const replica = `{"state": "running", "postmaster_start_time": "2026-11-16 08:58:34.938351+00:00", "role": "replica", "server_version": 150018, "xlog": {"received_location": 50331744, "replayed_location": 50331743, "replayed_timestamp": null, "paused": false}, "sync_standby": true, "timeline": 1, "replication_state": "streaming", "dcs_last_seen": 1794819519, "database_system_identifier": "7708691062180026588", "patroni": {"version": "4.0.7", "scope": "orders", "name": "orders-1"}}`;
const restarting = `{"state": "restarting", "role": "primary", "dcs_last_seen": 1794819575, "database_system_identifier": "7708691062180026588", "patroni": {"version": "4.0.7", "scope": "orders", "name": "orders-0"}}`;

test("the status of a primary has its replicas, and the changes that wait for a restart", () => {
  expect(parseStatus(primary)).toEqual({
    state: "running",
    role: "primary",
    patroniVersion: "4.0.7",
    serverVersion: 150018,
    postmasterStartTime: "2026-11-16 08:58:24.225198+00:00",
    systemIdentifier: "7708691062180026588",
    timeline: 1,
    restartPending: true,
    pendingChanges: [
      { parameter: "archive_mode", oldValue: "off", newValue: "on" },
      { parameter: "shared_buffers", oldValue: "16MB", newValue: "20MB" },
    ],
    wal: { location: 50331744n },
    replicationState: undefined,
    replication: [{ name: "orders-1", address: "127.0.0.1", state: "streaming", synchrony: "async" }],
    isSynchronous: false,
    paused: false,
    hasNoLeader: false,
  });
});

test("the status of a replica has its positions and its replication state", () => {
  expect(parseStatus(replica)).toMatchObject({
    role: "replica",
    timeline: 1,
    restartPending: false,
    pendingChanges: [],
    wal: { received: 50331744n, replayed: 50331743n, replayedTime: undefined, replayPaused: false },
    replicationState: "streaming",
    replication: [],
    isSynchronous: true,
  });
});

test("the status of an instance whose PostgreSQL does not answer leaves fields undefined", () => {
  expect(parseStatus(restarting)).toMatchObject({
    state: "restarting",
    role: "primary",
    serverVersion: undefined,
    postmasterStartTime: undefined,
    timeline: undefined,
    wal: undefined,
  });
});

test("positions in the log are parsed with all of their 64 bits", () => {
  const odd = primary.replace("50331744", "18446744073709551615");
  expect(parseStatus(odd)?.wal).toEqual({ location: 18446744073709551615n });
});

test.each([
  ["timeline", '"timeline": "two"', { timeline: undefined, serverVersion: 150018 }],
  ["timeline", '"timeline": 1.5', { timeline: undefined, serverVersion: 150018 }],
  ["timeline", '"timeline": 1, "replication": {}, "pending_restart_reason": [3]', { timeline: 1, serverVersion: 150018 }],
])("an invalid field is left out and affects no other: %s as %s", (name, text, expected) => {
  expect(parseStatus(primary.replace(new RegExp(`"${name}": \\d+`), text))).toMatchObject({ state: "running", ...expected });
});

test.each(["", "no JSON", "[]", "null", '{"state": "running"}', '{"state": 1, "role": "primary"}'])(
  "a text that is no status is undefined: %s",
  (text) => {
    expect(parseStatus(text)).toBeUndefined();
  },
);

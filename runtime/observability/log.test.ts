import { expect, test } from "vitest";
import { createLog, type LogFields, type LogOptions } from "./log.ts";

function memoryLog(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({ level: "debug", pretty: false, destination: { write: (line) => void lines.push(line) }, ...options });
  return { log, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test("a log line is JSON with the time, the level as a word, the fields and the message", () => {
  const { log, lines, parsed } = memoryLog();
  log.warn({ controller: "sampledb", attempt: 3 }, "it failed %s");
  expect(parsed()).toEqual([{ level: "warn", time: expect.any(String), controller: "sampledb", attempt: 3, msg: "it failed %s" }]);
  expect(parsed()[0]?.["time"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(lines[0]).toMatch(/\n$/);
});

test("levels below the configured one are not written", () => {
  const { log, parsed } = memoryLog({ level: "warn" });
  for (const level of ["debug", "info", "warn", "error"] as const) log[level]({}, level);
  expect(parsed().map(({ msg }) => msg)).toEqual(["warn", "error"]);
});

test("a child log has its fields on each line; fields of the line take precedence, once", () => {
  const { log, lines, parsed } = memoryLog();
  const child = log.child({ controller: "a", name: "x" }).child({ name: "y" });
  child.info({}, "one");
  child.info({ name: "z" }, "two");
  log.info({}, "three");
  expect(parsed().map(({ controller, name }) => [controller, name])).toEqual([
    ["a", "y"],
    ["a", "z"],
    [undefined, undefined],
  ]);
  expect(lines[1]?.match(/"name"/g)).toHaveLength(1);
});

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s" },
  data: { password: "aHVudGVyMg==" },
  stringData: { p: "hunter2" },
};

test.each<[string, object]>([
  [
    "fields that are not known",
    { password: "hunter2", secret, body: "hunter2", headers: { authorization: "hunter2" }, msg: "hunter2", level: "hunter2" },
  ],
  ["an object under a known name", { name: secret, reason: secret, resource: [secret], attempt: "hunter2", after: secret }],
  ["an object in place of an error", { error: secret }],
  ["an object with a toJSON", { error: { toJSON: () => secret }, name: { toJSON: () => "hunter2" }, reason: new String("hunter2") }],
  ["names of Object's own", { constructor: "hunter2", toString: "hunter2", hasOwnProperty: "hunter2" }],
  ["an error that carries it", { error: Object.assign(new Error("no"), { secret, response: { body: "hunter2" } }) }],
  ["the Secret itself in place of the fields", secret],
])("a Secret's value is not written, as field or in a child: %s", (_, fields) => {
  for (const pretty of [false, true]) {
    const { log, lines } = memoryLog({ pretty });
    log.error(fields as LogFields, "message");
    log.child(fields as LogFields).debug({}, "message");
    expect(lines).toHaveLength(2);
    expect(lines.join("")).not.toMatch(/hunter2|aHVudGVyMg/);
    expect(lines.join("")).toContain("message");
  }
});

test("unknown fields and wrong types don't compile", () => {
  const { log } = memoryLog();
  // @ts-expect-error an unknown field
  log.info({ password: "x" }, "");
  // @ts-expect-error a known field with another type
  log.info({ attempt: "3" }, "");
});

test("a pretty line is text, written at once", () => {
  const { log, lines } = memoryLog({ pretty: true });
  log.error({ name: "x", error: new RangeError("too far") }, "it failed");
  expect(lines.join("")).toMatch(/ERROR.*: it failed\n/);
  expect(lines.join("")).toContain("too far");
});

test("stacks can be left out of the log", () => {
  const { log, lines } = memoryLog({ stacks: false });
  log.error({ error: new Error("a", { cause: new Error("b") }) }, "");
  expect(lines.join("")).not.toContain("log.test.ts");
});

// A packed spec is small, comes back as it was, and hostile text is no spec.
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sampleDBSpec } from "../../api/sampledb.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { packSpec, unpackSpec } from "./packed-spec.ts";

const spec = (parameters: Record<string, string> = {}) =>
  sampleDBSpec.parse({ postgresVersion: 17, storage: { size: "1Gi" }, postgresql: { parameters } }) as SampleDB["spec"];
/** The room of a termination message, as `look-into-repository` has it. */
const room = 3500;

test("a spec comes back as it was", () => {
  expect(unpackSpec(packSpec(spec({ work_mem: "64MB" })) ?? "")).toEqual(spec({ work_mem: "64MB" }));
});

test("a spec with a hundred settings fits into a termination message", () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`extension.setting_${index}`, `${index * 7919}MB`]));
  expect(packSpec(spec(many))?.length).toBeLessThan(room);
});

test("a spec that does not fit into an argument is not stored", () => {
  const noise = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`noise.${index}`, randomBytes(1024).toString("base64")]));
  expect(packSpec(spec(noise))).toBeUndefined();
});

test.each([
  ["no base64", "***"],
  ["no gzip", Buffer.from("{}").toString("base64")],
  ["no JSON", gzipSync("{").toString("base64")],
  ["a list", gzipSync("[]").toString("base64")],
  ["null", gzipSync("null").toString("base64")],
  ["a gigabyte in a few bytes", gzipSync(Buffer.alloc(64 * 1024 * 1024, " ")).toString("base64")],
])("%s is no spec", (_, packed) => {
  expect(unpackSpec(packed)).toBeUndefined();
});

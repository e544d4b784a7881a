// Bad Backups.
import { type BadSpec, inSpec } from "./bad-spec.ts";

const aSampleDBName = /must start with a letter, end with a letter or digit, and have only a-z, 0-9 and - in it/;
const types = /supported values: "Full", "Differential", "Incremental"/;
const policies = /supported values: "Retain", "Delete"/;

export const badBackups: readonly BadSpec[] = [
  ["no spec", { spec: null }, "spec", /Required value/],
  ["a name in upper case", { metadata: { name: "Full" } }, "metadata.name", /lower case alphanumeric characters/],
  ...inSpec([
    ["no SampleDB", { sampleDBName: null }, "spec.sampleDBName", /Required value/],
    ["an empty SampleDB", { sampleDBName: "" }, "spec.sampleDBName", /at least 1 chars long/],
    ["a SampleDB with a dot", { sampleDBName: "or.ders" }, "spec.sampleDBName", aSampleDBName],
    ["a SampleDB with a digit in front", { sampleDBName: "1orders" }, "spec.sampleDBName", aSampleDBName],
    ["a SampleDB in upper case", { sampleDBName: "Orders" }, "spec.sampleDBName", aSampleDBName],
    ["a SampleDB of another namespace", { sampleDBName: "other/orders" }, "spec.sampleDBName", aSampleDBName],
    ["a SampleDB of 41 characters", { sampleDBName: "x".repeat(41) }, "spec.sampleDBName", /may not be more than 40 bytes/],
    ["a SampleDB that is an object", { sampleDBName: { name: "orders" } }, "spec.sampleDBName", /must be of type string/],
    ["a type in lower case", { type: "full" }, "spec.type", types],
    ["a type of another program", { type: "diff" }, "spec.type", types],
    ["an empty type", { type: "" }, "spec.type", types],
    ["a policy that does not exist", { deletionPolicy: "Keep" }, "spec.deletionPolicy", policies],
    ["a policy that is a boolean", { deletionPolicy: true }, "spec.deletionPolicy", /must be of type string/],
  ]),
];

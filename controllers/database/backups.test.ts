import { expect, test } from "vitest";
import { apiVersion } from "../../api/version.ts";
import type { Backup } from "../kinds/sampledb-io.ts";
import { dependentsOf } from "./backups.ts";

const full = "20260501-000000F";
const of = (label: string, stanza = "uid-17-1") =>
  ({
    apiVersion,
    kind: "Backup",
    metadata: { name: label, uid: `${stanza}/${label}` },
    status: { label, repository: { stanza } },
  }) as unknown as Backup;
const [first, diff, incremental, later] = [
  `${full}`,
  `${full}_20260502-000000D`,
  `${full}_20260502-120000I`,
  `${full}_20260503-000000I`,
].map((label) => of(label));
const other = of("20260503-060000F");
const elsewhere = of(`${full}_20260502-000000D`, "uid-17-2");
const all = [first, diff, incremental, later, other, elsewhere] as Backup[];

test.each<[string, Backup | undefined, (Backup | undefined)[]]>([
  ["a full one carries all of its chain", first, [diff, incremental, later]],
  ["a differential one carries the incremental ones after it", diff, [incremental, later]],
  ["an incremental one carries those after it", incremental, [later]],
  ["the last one of a chain carries nothing", later, []],
  ["a full one alone carries nothing", other, []],
])("%s", (_, subject, dependents) => expect(dependentsOf(subject as Backup, all)).toEqual(dependents));

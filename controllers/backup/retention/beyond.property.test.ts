// What holds for every policy and every history of Backups.
import fc from "fast-check";
import { expect, test } from "vitest";
import { dependentsOf, isFull, isGood } from "../../database/backups.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import { made, other, type Short, uid } from "./backups.fixture.ts";
import { goingOf, type Policy } from "./beyond.ts";

const policies: fc.Arbitrary<Policy> = fc.record(
  { fullBackupCount: fc.integer({ min: 1, max: 5 }), periodDays: fc.integer({ min: 1, max: 20 }) },
  { requiredKeys: ["fullBackupCount"] },
) as fc.Arbitrary<Policy>;

/** Each entry comes after the one before it; a dependent one builds on the last full one that is good. */
const histories = fc
  .array(
    fc.record({
      gap: fc.double({ min: 0.01, max: 9, noNaN: true }),
      kind: fc.constantFrom("full", "full", "dependent", "failed"),
      retain: fc.boolean(),
      rarely: fc.integer({ min: 0, max: 9 }),
    }),
    { maxLength: 25 },
  )
  .map((entries) => {
    let day = 0;
    let on: string | undefined;
    return entries.map(({ gap, kind, retain, rarely }, index): Short => {
      day += gap;
      const name = `b${index}`;
      const common = { name, day, retain: retain && rarely < 3, ...(rarely === 9 ? { uid: other } : {}) };
      if (kind === "failed") return { ...common, failed: true };
      if (kind === "dependent" && on !== undefined) return { ...common, on, uid };
      if (rarely !== 9) on = name;
      return common;
    });
  });

const membersOf = (policy: Policy, all: readonly Backup[]) =>
  new Set(goingOf(policy, uid, all).flatMap(({ head, dependents }) => [head, ...dependents]));
const isOwn = ({ status }: Backup) => status?.repository?.stanza.startsWith(uid) ?? false;
const endOf = ({ status }: Backup) => Date.parse(status?.completionTime ?? "");

function holds(property: (policy: Policy, all: Backup[], going: Set<Backup>, left: Backup[]) => void): void {
  fc.assert(
    fc.property(policies, histories, (policy, history) => {
      const all = made(policy, ...history);
      const going = membersOf(policy, all);
      property(
        policy,
        all,
        going,
        all.filter((each) => !going.has(each)),
      );
    }),
    { numRuns: 500 },
  );
}

test("the newest good backup never goes, so retention never removes everything", () =>
  holds((_, all, going, left) => {
    const good = all.filter((each) => isOwn(each) && isGood(each));
    const newest = good.toSorted((a, b) => endOf(a) - endOf(b)).at(-1);
    if (newest) expect(going.has(newest)).toBe(false);
    if (good.length > 0) expect(left.some(isGood)).toBe(true);
  }));

test("nothing goes that is to be retained, is another database's, or carries one that stays", () =>
  holds((_, all, going) => {
    for (const each of going) {
      expect(each.spec.deletionPolicy).toBe("Delete");
      expect(isOwn(each)).toBe(true);
      for (const dependent of dependentsOf(each, all)) expect(going.has(dependent)).toBe(true);
    }
  }));

test("as many full ones are left as the count asks for, where there were so many", () =>
  holds(({ fullBackupCount }, all, _, left) => {
    const fulls = (backups: readonly Backup[]) => backups.filter((each) => isOwn(each) && isGood(each) && isFull(each)).length;
    expect(fulls(left)).toBeGreaterThanOrEqual(Math.min(fullBackupCount, fulls(all)));
  }));

test("every moment of the period that could be restored before can be restored after", () =>
  holds(({ periodDays }, all, _, left) => {
    if (periodDays === undefined) return;
    const good = (backups: readonly Backup[]) => backups.filter((each) => isOwn(each) && isGood(each)).map(endOf);
    const begin = Math.max(...good(all)) - periodDays * 86_400_000;
    for (const moment of good(all).filter((end) => end >= begin)) expect(Math.min(...good(left))).toBeLessThanOrEqual(moment);
    const covered = Math.min(...good(all)) <= begin;
    if (covered) expect(Math.min(...good(left))).toBeLessThanOrEqual(begin);
  }));

test("what is left stays: a second look removes nothing more", () =>
  holds((policy, _, __, left) => expect(membersOf(policy, left).size).toBe(0)));

test("a policy that keeps more removes nothing that the other one keeps", () =>
  holds((policy, all, going) => {
    const more = {
      ...policy,
      fullBackupCount: policy.fullBackupCount + 1,
      ...(policy.periodDays ? { periodDays: policy.periodDays + 3 } : {}),
    };
    for (const each of membersOf(more, all)) expect(going.has(each)).toBe(true);
  }));

test("a failed backup that is added changes nothing for the good ones", () =>
  holds((policy, all, going) => {
    const last = Math.max(0, ...all.map(endOf));
    const day = (last - Date.UTC(2026, 0, 1)) / 86_400_000 + 1;
    const [failed] = made(policy, { name: "failed", day, failed: true }) as [Backup];
    expect(membersOf(policy, [...all, failed])).toEqual(going);
  }));

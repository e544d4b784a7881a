import fc from "fast-check";
import { expect, test } from "vitest";
import type { Operation } from "./permits.ts";
import { inTurn, type Limits, turnOf } from "./turns.ts";

const operation = (text: string, index = 0): Operation => {
  const [kind, namespace = "", store = "s"] = text.split(" ");
  const since = `2026-05-04T12:00:${String(index).padStart(2, "0")}Z`;
  return { kind: kind === "R" ? "Restore" : "Backup", uid: `${text} ${index}`, namespace, name: `${namespace}-${index}`, store, since };
};
const operations = (...texts: readonly string[]) => texts.map((text, index) => operation(text, index + 1));
const limits: Limits = { backups: 2, restores: 2, perStore: 3 };

test.each<[string, string, string[], string[], boolean]>([
  ["there is room", "B shop", ["B shop"], [], true],
  ["all backups run", "B shop", ["B shop a", "B bank b"], [], false],
  ["all backups run, and it is a restore", "R shop", ["B shop a", "B bank b"], [], true],
  ["its store is full", "B shop", ["B shop", "R bank", "R bank"], [], false],
  ["another store is full", "B shop other", ["B shop", "R bank", "R bank"], [], true],
  ["a restore waits for the last place of the store", "B shop", ["B shop", "R bank"], ["R other"], false],
  ["a backup waits for the last place of the store", "R shop", ["B shop", "R bank"], ["B other"], true],
  ["another namespace has nothing and waits", "B shop a", ["B shop a"], ["B bank b"], false],
  ["another namespace has as much, and it waits longer", "B shop a", ["B hospital c"], ["B bank b"], false],
  ["others wait for a full store", "B shop other", ["B shop", "R bank", "R bank"], ["B bank", "B bank"], true],
])("when %s, it is decided whether it begins", (_, own, running, waiting, granted) => {
  const all = operations(...running, ...waiting);
  const permit = turnOf(operation(own, 50), all.slice(0, running.length), all.slice(running.length), limits);
  expect(permit.granted).toBe(granted);
});

test("namespaces take turns", () => {
  const waiting = operations("B shop", "B shop", "B shop", "B bank", "R shop", "B bank");
  expect(inTurn([], waiting).map(({ name }) => name)).toEqual(["shop-5", "shop-1", "bank-4", "shop-2", "bank-6", "shop-3"]);
  const running = [operation("B shop", 40)];
  expect(inTurn(running, waiting).map(({ name }) => name)).toEqual(["shop-5", "bank-4", "shop-1", "bank-6", "shop-2", "shop-3"]);
});

test("what waits is told for whom and how many are before it, and nothing of other namespaces by name", () => {
  const running = operations("B shop a", "B bank b");
  const permit = turnOf(operation("B shop", 50), running, operations("B hospital", "B bank"), limits);
  expect(permit).toEqual({
    granted: false,
    message: "it waits for its turn: at most 2 backups run at once (now: Backup shop-1, 1 of other namespaces), and 2 wait before it",
  });
});

const someOperations = fc.array(
  fc.record({ kind: fc.constantFrom("B", "R"), namespace: fc.constantFrom("a", "b", "c"), store: fc.constantFrom("x", "y", "z") }),
  { minLength: 1, maxLength: 30 },
);

test("one after the other, as many begin as the limits allow, and never more", () => {
  fc.assert(
    fc.property(
      someOperations,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
      (list, ...most) => {
        const [backups, restores, perStore] = most as [number, number, number];
        let waiting = operations(...list.map(({ kind, namespace, store }) => `${kind} ${namespace} ${store}`));
        const running: Operation[] = [];
        for (let next = waiting.find(mayBegin); next; next = waiting.find(mayBegin)) {
          running.push(next);
          waiting = waiting.filter((each) => each !== next);
        }
        function mayBegin(own: Operation): boolean {
          return turnOf(own, running, waiting, { backups, restores, perStore }).granted;
        }
        const count = (has: (each: Operation) => boolean) => running.filter(has).length;
        const isFull = ({ kind, store }: Operation) =>
          count((each) => each.kind === kind) >= (kind === "Backup" ? backups : restores) ||
          count((each) => each.store === store) >= perStore;
        expect(count(({ kind }) => kind === "Backup")).toBeLessThanOrEqual(backups);
        expect(count(({ kind }) => kind === "Restore")).toBeLessThanOrEqual(restores);
        for (const at of ["x", "y", "z"]) expect(count(({ store }) => store === at)).toBeLessThanOrEqual(perStore);
        expect(waiting.every(isFull)).toBe(true); // nobody waits where there is room
      },
    ),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { type Delayed, DelayHeap } from "./delay-heap.ts";

interface Item extends Delayed {
  readonly name: number;
}

const item = (name: number, due: number): Item => ({ name, due, heapIndex: -1, heapTurn: -1 });

/** By due time, then by order of arrival. */
const sorted = (items: Iterable<Item>) => [...items].sort((a, b) => a.due - b.due || a.name - b.name);

test("the earliest item is on top of the heap, whatever was added and removed", () => {
  const add = fc.record({ due: fc.integer({ min: 0, max: 50 }) });
  const remove = fc.record({ place: fc.nat() });
  const plan = fc.array(fc.oneof({ weight: 3, arbitrary: add }, { weight: 2, arbitrary: remove }), { maxLength: 150, size: "max" });
  fc.assert(
    fc.property(plan, (steps) => {
      const heap = new DelayHeap<Item>();
      const present = new Set<Item>();
      const leave = (one: Item) => {
        present.delete(one);
        heap.remove(one);
      };
      for (const [name, step] of steps.entries()) {
        if ("due" in step) {
          const added = item(name, step.due);
          present.add(added);
          heap.add(added);
        } else {
          const one = [...present][step.place % present.size];
          if (one) leave(one);
        }
        expect(heap.earliest).toBe(sorted(present)[0]);
        expect(heap.size).toBe(present.size);
      }
      for (const one of sorted(present)) {
        expect(heap.earliest).toBe(one);
        leave(one);
      }
      expect(heap.size).toBe(0);
    }),
    { numRuns: 100 },
  );
});

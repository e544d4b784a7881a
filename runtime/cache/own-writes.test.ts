import { expect, test } from "vitest";
import type { PendingWrite } from "../kube/client.ts";
import { longestMilliseconds } from "./own-writes.ts";
import { Store } from "./store.ts";
import { type Thing, thing } from "./thing.fixture.ts";

const key = { namespace: "default", name: "a" };

/**
 * Objects are written `version/uid`. The watch brings `put` and `end`. A write, which may have a name, has `begin`, then `answer`
 * or `fail`. `list` requests a list, `listed` gives its version and its objects. `reads` is what readers must get.
 */
function play(script: string, options: { selects?: (object: Thing) => boolean } = {}): void {
  let now = 0;
  const store = new Store<Thing>({ now: () => now, ...options });
  const writes = new Map<string, PendingWrite>();
  let list = store.beginList(undefined);
  const parse = (text = "") => thing("a", { version: text.split("/")[0] ?? "", uid: text.split("/")[1] ?? "U" });
  const write = (name: string) => writes.get(name) as PendingWrite;
  const named = (words: string[]) => (words.length > 1 ? (words as [string, string]) : (["", words[0] ?? ""] as const));
  const steps: Record<string, (...words: string[]) => void> = {
    put: (object) => void store.put(parse(object), false),
    end: (object) => void store.remove(parse(object)),
    begin: (name = "") => void writes.set(name, store.beginWrite(key)),
    answer: (...words) => {
      const [name, object] = named(words);
      write(name).settled(object === "gone" ? undefined : parse(object));
    },
    fail: (name = "") => write(name).abandoned(),
    list: () => {
      list = store.beginList(undefined);
    },
    listed: (version, object) => {
      if (object) list.seen(parse(object));
      if (object) store.put(parse(object), false);
      list.end(version);
    },
    bookmark: (version) => store.passed(undefined, version),
    later: (milliseconds) => {
      now += Number(milliseconds);
    },
    reads: (expected = "") => {
      const read = store.get(key)?.metadata;
      expect(read ? `${read.resourceVersion}${read.uid === "U" ? "" : `/${read.uid}`}` : "nothing", script).toBe(expected);
      expect(store.list().length, script).toBe(read ? 1 : 0);
    },
  };
  for (const step of script.split("; ")) {
    const [verb = "", ...words] = step.split(" ");
    steps[verb]?.(...words);
  }
}

test.each([
  ["the answer comes first", "put 1; begin; reads 1; answer 2; reads 2; put 2; reads 2; put 3; reads 3"],
  ["the event comes first", "put 1; begin; put 2; reads 2; answer 2; reads 2; put 3; reads 3"],
  ["the event comes first, followed by writes of others", "put 1; begin; put 2; put 3; answer 2; reads 3"],
  ["the event comes first, followed by a removal", "put 1; begin; put 2; end 3; answer 2; reads nothing"],
  ["earlier writes of others don't end the overlay", "put 1; begin; answer 4; put 2; reads 4; put 3; reads 4; put 4; put 5; reads 5"],
  ["a later event ends the overlay", "put 1; begin; answer 4; put 7; reads 7"],
  ["a create", "begin; answer 2; reads 2; put 2; reads 2; end 3; reads nothing"],
  ["a create, deleted by another", "begin; answer 2; end 3; reads nothing"],
  ["a create after another object of the name was removed", "put 1/V; begin; answer 5; put 2/V; reads 5; end 3/V; reads 5; put 5; reads 5"],
  ["a failed write shows nothing", "put 1; begin; fail; reads 1; put 2; reads 2"],
  ["a failed write leaves the overlay of the one before", "put 1; begin; answer 2; begin; fail; reads 2"],
  ["a second write on top", "put 1; begin; answer 2; begin; answer 3; put 2; reads 3; put 3; reads 3; put 4; reads 4"],
  ["answers out of order", "put 1; begin a; begin b; answer b 3; answer a 2; reads 3; put 2; reads 3; put 3; put 4; reads 4"],
  ["an answer that is older than the event of another write", "put 1; begin a; begin b; answer b 3; put 2; put 3; answer a 2; reads 3"],
  ["the same version, since the write changed nothing", "put 1; begin; answer 1; reads 1; put 2; reads 2"],
])("own write: %s", (_, script) => play(script));

test.each([
  ["the answer comes first", "put 1; begin; answer gone; reads nothing; end 2; reads nothing; put 3/V; reads 3/V"],
  ["the event comes first", "put 1; begin; end 2; answer gone; reads nothing; put 3/V; reads 3/V"],
  ["the event and another object of the name come first", "put 1; begin; end 2; put 3/V; answer gone; reads 3/V"],
  ["earlier writes of others don't show the object", "put 1; begin; answer gone; put 2; reads nothing; end 3; reads nothing"],
  [
    "of an object that was just created",
    "begin; answer 2; begin; answer gone; reads nothing; put 2; reads nothing; end 3; put 4/V; reads 4/V",
  ],
  [
    "of what one made in place of another",
    "put 1/V; begin; answer 5; begin; answer gone; put 2/V; reads nothing; end 3/V; put 5; reads nothing",
  ],
  [
    "an object that was created after it is shown",
    "put 1; begin; answer gone; begin; answer 5/V; reads 5/V; end 3; reads 5/V; put 5/V; reads 5/V",
  ],
  [
    "an older write is answered after the deletion",
    "put 1; begin a; begin b; answer b gone; answer a 2; reads nothing; put 2; reads nothing; end 3",
  ],
  ["a create is answered before the deletion", "put 1; begin a; begin b; answer b 5/V; answer a gone; reads 5/V"],
  ["of an unknown object", "begin; answer gone; reads nothing; put 3; reads 3"],
  ["the watch brings another object without a removal", "put 1; begin; answer gone; put 9/V; reads 9/V"],
  ["two deletions in a row", "put 1; begin; answer gone; begin; answer gone; reads nothing; end 2; put 3/V; reads 3/V"],
])("own deletion: %s", (_, script) => play(script));

test.each([
  ["requested after the answer: it contains the write", "put 1; begin; answer 4; list; listed 9 8; reads 8"],
  ["requested after the answer: it contains the removal", "put 1; begin; answer 4; list; listed 9; reads nothing"],
  [
    "requested before the answer, with an older version: it does not count",
    "put 1; list; begin; answer 4; listed 3 2; reads 4; put 4; reads 4",
  ],
  ["requested before the answer, with a newer version: it counts", "put 1; list; begin; answer 4; listed 6 5; reads 5"],
  ["requested before the answer, newer and without the object: it counts", "put 1; list; begin; answer 4; listed 6; reads nothing"],
  ["newer and faster than the answer, without the object: it counts", "put 1; list; begin; listed 6; answer 4; reads nothing"],
  ["that still contains the deleted object", "put 1; list; begin; answer gone; listed 3 2; reads nothing; end 4; put 5/V; reads 5/V"],
  [
    "that came before a deletion's answer does not end it",
    "put 1; list; begin; listed 3 2; answer gone; reads nothing; end 4; reads nothing",
  ],
  ["that does not contain the deleted object", "put 1; list; begin; answer gone; listed 5; reads nothing; put 6/V; reads 6/V"],
  ["of a restored etcd, with older versions", "put 90; begin; answer 95; list; listed 20 15; reads 15; put 21; reads 21"],
])("own writes and a list %s", (_, script) => play(script));

test.each([
  ["for a minute at most", `put 1; begin; answer 2; later ${longestMilliseconds - 1}; reads 2; later 1; reads 1`],
  [
    "for a minute at most, when it hides the object",
    `put 1; begin; answer gone; later ${longestMilliseconds - 1}; reads nothing; later 1; reads 1`,
  ],
  ["until a bookmark is past it", "put 1; begin; answer 4; bookmark 3; reads 4; bookmark 4; reads 1"],
  ["a bookmark does not end the overlay of a deletion", "put 1; begin; answer gone; bookmark 9; reads nothing"],
  ["versions that are no numbers: until the event comes", "put a; begin; answer c; put b; reads c; put c; put d; reads d"],
  ["versions that are no numbers: the event came before the answer", "put a; begin; put c; put d; answer c; reads d"],
  ["versions that are no numbers: the write changed nothing", "put a; begin; answer a; put b; reads b"],
  ["versions that are no numbers: until the removal comes", "put a; begin; answer c; end x; reads nothing"],
  ["versions that are no numbers: the removal came before the answer", "put a; begin; end x; answer c; reads nothing"],
  ["versions that are no numbers: a deletion", "put a; begin; answer gone; put b; reads nothing; put c/V; reads c/V"],
])("own write is shown: %s", (_, script) => play(script));

test.each([
  ["a written object outside of it is not shown", "begin; answer 4/out; reads nothing; begin; answer 5/out; reads nothing"],
  [
    "an object that a write moves out of it is hidden until the watch removes it",
    "put 1; begin; answer 4/out; reads nothing; put 2; reads nothing; end 4; put 5; reads 5",
  ],
  [
    "an object that had left before an own write brought it back",
    "put 1; begin; answer 4; end 3; reads 4; put 4; reads 4; end 5; reads nothing",
  ],
])("own writes in a selection: %s", (_, script) => play(script, { selects: ({ metadata }) => metadata.uid !== "out" }));

test("own writes that are never read expire", () => {
  let now = 0;
  const store = new Store<Thing>({ now: () => now, selects: () => false });
  for (let i = 0; i < 1000; i++) {
    now += 1000;
    store.beginWrite({ ...key, name: `n${i}` }).settled(thing(`n${i}`));
  }
  expect(store.ownWrites).toBeLessThanOrEqual(longestMilliseconds / 1000);
});

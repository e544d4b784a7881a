// Which Restore may claim a SampleDB that another one has claimed.
import { expect, test } from "vitest";
import { restoreInPlaceAnnotation } from "../../api/annotations.ts";
import type { RestorePhase } from "../../api/restore-phase.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { Restore } from "../kinds/sampledb-io.ts";
import { unfit } from "./unfit.ts";

const spec = { destination: { type: "InPlace", sampleDBName: "orders" }, source: { sampleDBName: "orders" }, target: { type: "Latest" } };

/** Of Restore `third`, where this one has the claim, and the status has the phase of that one. */
function asked(claimedBy: string, phase: RestorePhase, restoreUID: string): string | undefined {
  const conditions = [{ type: "Initialized", status: "True" }];
  const restore = { phase, restoreName: restoreUID, restoreUID, podName: "orders-0" };
  const annotations = { [restoreInPlaceAnnotation]: `${claimedBy}/${claimedBy}` };
  const db = { ...sampleDB({ backup: {} }, { annotations }), status: { conditions, restore } } as unknown as ReturnType<typeof sampleDB>;
  const third = { metadata: { name: "third", uid: "third" }, spec } as unknown as Restore;
  return unfit({ restore: third, backup: undefined, backups: [] }, db);
}

test.each<[string, string | undefined, string | undefined]>([
  ["a Restore at work keeps its claim", asked("first", "Restoring", "first"), "Restore first replaces the data of SampleDB orders already"],
  ["a Restore that has left the data overwritten gives its claim up", asked("first", "Overwritten", "first"), undefined],
  [
    "a Restore that has taken over overwritten data keeps its claim, also before the status tells so",
    asked("second", "Overwritten", "first"),
    "Restore second replaces the data of SampleDB orders already",
  ],
])("%s", (_, problem, words) => {
  expect(problem).toBe(words);
});

import { expect, test } from "vitest";
import { type RestoreInputs, restorePhase } from "./restore-phase.ts";

const begun: RestoreInputs = { stored: undefined, secured: "Waking", restore: "open", alone: false, leads: false, othersGone: false };
const secured: RestoreInputs = { ...begun, secured: "Secured" };
const at = (stored: RestoreInputs["stored"], more: Partial<RestoreInputs> = {}): RestoreInputs => ({ ...begun, stored, ...more });

test.each<[string, RestoreInputs, string]>([
  ["first everything is secured", begun, "Waking"],
  ["nothing is overwritten while it is not", { ...begun, secured: "CheckingArchive" }, "CheckingArchive"],
  ["once it is, one volume is overwritten", secured, "Restoring"],
  ["a Restore that is over before that changes nothing", { ...secured, restore: "untouched" }, "Lifting"],
  ["nor does one that is gone", { ...begun, restore: "failed" }, "Lifting"],
  ["while the Job runs nothing starts, whatever is observed", at("Restoring", { leads: true, othersGone: true }), "Restoring"],
  ["whole data is started", at("Restoring", { restore: "filled" }), "Starting"],
  ["a failure before the first byte takes everything back", at("Restoring", { restore: "untouched", alone: true }), "Lifting"],
  ["a later one goes back to the former primary", at("Restoring", { restore: "failed" }), "Reverting"],
  ["which a database of one instance has not", at("Restoring", { restore: "failed", alone: true }), "Overwritten"],
  ["another Restore may overwrite it again", at("Overwritten", { alone: true }), "Restoring"],
  ["and nothing else is done with it", at("Overwritten", { restore: "failed", secured: "Secured" }), "Overwritten"],
  ["no volume goes before the restored instance leads", at("Starting", { restore: "filled", othersGone: true }), "Starting"],
  ["then those of the others go", at("Starting", { leads: true }), "Replacing"],
  ["the others start when their former volumes are gone", at("Replacing", { restore: "filled" }), "Replacing"],
  ["and not before", at("Replacing", { othersGone: true }), "Lifting"],
  ["the overwritten volume goes before the former primary starts", at("Reverting", { restore: "failed" }), "Reverting"],
  ["then it starts", at("Reverting", { restore: "failed", othersGone: true }), "Lifting"],
])("%s", (_, inputs, phase) => {
  expect(restorePhase(inputs)).toBe(phase);
});

// The text that is run in the ledger's Pod.
import { expect, test } from "vitest";
import { ledgerProgram } from "./ledger-pod.ts";

test("it fits into a ConfigMap, and disposal is left to Node", async () => {
  const program = await ledgerProgram();
  expect(program.length).toBeLessThan(1_000_000);
  expect(program).not.toContain("__callDispose"); // esbuild's own, which throws one attempt's error again after every later one
});

import { expect, test } from "vitest";
import { promotionSeconds } from "./promotion.ts";

const log = `
2026-11-18 04:00:00.000 UTC [31] LOG:  database system is ready to accept read-only connections
2026-11-18 04:10:00.100 UTC [34] LOG:  received promote request
2026-11-18 04:10:00.900 UTC [31] LOG:  database system is ready to accept connections
2026-11-18 04:20:59.950 UTC [34] LOG:  received promote request
2026-11-18 04:20:59.960 UTC [34] LOG:  redo done at 0/3000028
2026-11-18 04:21:00.070 UTC [31] LOG:  database system is ready to accept connections
2026-11-18 04:21:00.080 UTC [32] LOG:  checkpoint starting: force`;

test("a promotion takes from the request to the first write; the last one counts", () => {
  expect(promotionSeconds(log)).toBeCloseTo(0.12);
});

test.each([
  ["none was asked for", "2026-11-18 04:00:00.000 UTC [31] LOG:  database system is ready to accept connections"],
  ["it has not ended", "2026-11-18 04:10:00.100 UTC [34] LOG:  received promote request"],
])("there is no promotion where %s", (_, text) => {
  expect(() => promotionSeconds(text)).toThrow("no promotion");
});

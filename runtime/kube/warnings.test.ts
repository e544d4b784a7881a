import { expect, test } from "vitest";
import { warnings } from "./warnings.ts";

test.each([
  ["none", undefined, []],
  ["one", '299 - "v1 ComponentStatus is deprecated in v1.19+"', ["v1 ComponentStatus is deprecated in v1.19+"]],
  ["several in one header", '299 - "first", 299 - "second, with a comma"', ["first", "second, with a comma"]],
  ["several headers", ['299 - "first"', '299 - "second"'], ["first", "second"]],
  ["a quoted quote", '299 - "unknown field \\"spec.nmae\\""', ['unknown field "spec.nmae"']],
  ["another code, of a cache on the way", '110 - "Response is Stale"', []],
])("warnings: %s", (_, warning, expected) => {
  expect(warnings({ warning } as never)).toEqual(expected);
});

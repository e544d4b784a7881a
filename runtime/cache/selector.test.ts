import { expect, test } from "vitest";
import { selects } from "./selector.ts";
import { thing } from "./thing.fixture.ts";

const red = { ...thing("a", { labels: { color: "red", "app.io/tier": "db" }, color: "red" }), status: { ready: true, count: 3 } };

test.each([
  ["", true],
  ["color=red", true],
  ["color==red", true],
  ["color = red", true],
  ["color=blue", false],
  ["size=", false],
  ["color!=blue", true],
  ["color!=red", false],
  ["size!=big", true],
  ["color", true],
  ["size", false],
  ["!size", true],
  ["!color", false],
  ["color in (blue, red)", true],
  ["color in (blue,green)", false],
  ["size in (big)", false],
  ["color notin (blue,green)", true],
  ["color notin (red)", false],
  ["size notin (big)", true],
  ["app.io/tier=db,color in (red,blue),!size", true],
  ["app.io/tier=db,color in (red,blue),size", false],
  ["color >> red", true],
])("label selector %s selects the object: %s", (labelSelector, expected) => {
  expect(selects({ labelSelector })(red)).toBe(expected);
});

test.each([
  ["metadata.name=a", true],
  ["metadata.name==a", true],
  ["metadata.name!=a", false],
  ["metadata.name=b", false],
  ["metadata.namespace=default,metadata.name=a", true],
  ["metadata.namespace=other,metadata.name=a", false],
  ["spec.color=red", true],
  ["spec.nodeName=", true],
  ["spec.nodeName!=", false],
  ["spec.nodeName=here", false],
  ["spec.nodeName.deeper=", true],
  ["status.ready=true", true],
  ["status.count=3", true],
  ["odd", true],
])("field selector %s selects the object: %s", (fieldSelector, expected) => {
  expect(selects({ fieldSelector })(red)).toBe(expected);
});

test("label and field selectors must both match", () => {
  expect(selects({ labelSelector: "color=red", fieldSelector: "metadata.name=b" })(red)).toBe(false);
  expect(selects({ labelSelector: "color=blue", fieldSelector: "metadata.name=a" })(red)).toBe(false);
});

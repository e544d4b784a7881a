// The objects of a catalog that opm does not render.
import { expect, test } from "vitest";
import { catalogObjects, newestAlone } from "./catalog.ts";

const entriesOf = (...entries: Parameters<typeof catalogObjects>[0]) => catalogObjects(entries)[1];

test("the channel of the package is the default one, and has each version by the name of its ClusterServiceVersion", () => {
  const [description, channel] = catalogObjects([{ version: "0.1.0" }, { version: "0.2.0", replaces: "0.1.0" }]);
  expect(description).toMatchObject({ schema: "olm.package", name: "sampledb-operator", defaultChannel: "candidate" });
  expect(channel).toEqual({
    schema: "olm.channel",
    package: "sampledb-operator",
    name: "candidate",
    entries: [{ name: "sampledb-operator.v0.1.0" }, { name: "sampledb-operator.v0.2.0", replaces: "sampledb-operator.v0.1.0" }],
  });
});

test("a version alone in its catalog follows every earlier one", () => {
  expect(entriesOf(...newestAlone("0.4.0"))).toMatchObject({ entries: [{ name: "sampledb-operator.v0.4.0", skipRange: "<0.4.0" }] });
});

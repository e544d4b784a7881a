// The settings that the checks know are those of the servers that run: an image with a newer PostgreSQL shows here first.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { postgresImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { settingsFile, settingsMajors, settingsScript } from "../../tools/postgres-settings.ts";
import { suiteNamespace } from "./test-cluster.ts";
import { startPods, toolbox } from "./toolbox.ts";

const namespace = suiteNamespace("settings");

test.each(settingsMajors)("PostgreSQL %s has the settings that are in its file", async (major) => {
  const pod = `settings-${major}`;
  await startPods(namespace, toolbox(pod, { image: imageReference(postgresImage(major)) }));
  const asked = await namespace.exec(pod, settingsScript(major));
  // Refresh the file with: node tools/postgres-settings.ts
  expect(JSON.parse(asked)).toEqual(JSON.parse(readFileSync(settingsFile(major), "utf8")));
});

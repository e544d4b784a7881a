import { expect, test } from "vitest";
import { KubeClient } from "../../runtime/kube/client.ts";
import type { ConfigMap } from "../kinds/kubernetes.ts";
import { ClusterSettings } from "./state.ts";

const config = JSON.stringify({
  ttl: 20,
  synchronous_mode_strict: true,
  postgresql: { use_slots: true, pg_hba: ["host all all all md5"], parameters: { work_mem: "4MB" } },
});
const closed = ["host all all all reject"];

/** NAME-config, and a client that writes to it. */
function written(): { readonly client: KubeClient; readonly settings: () => ClusterSettings; readonly annotations: () => object } {
  let object = { metadata: { name: "orders-config", annotations: { config } } } as unknown as ConfigMap;
  const mergePatch = async (_resource: unknown, _key: unknown, patch: ConfigMap) => {
    const merged = Object.entries({ ...object.metadata.annotations, ...patch.metadata.annotations }).filter(([, value]) => value !== null);
    object = { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(merged) } };
  };
  const client = Object.assign(Object.create(KubeClient.prototype), { mergePatch }) as KubeClient;
  return { client, settings: () => new ClusterSettings(object), annotations: () => object.metadata.annotations ?? {} };
}

test("settings that were closed twice, the second time for an instance alone, are reopened as they were before the first time", async () => {
  const { client, settings, annotations } = written();
  await settings().close(client, closed, { alone: false });
  expect(settings().letsIn(closed, { alone: false })).toBe(true);
  expect(settings().letsIn(closed, { alone: true })).toBe(false);
  await settings().close(client, closed, { alone: true });
  expect(settings().letsIn(closed, { alone: true })).toBe(true);
  await settings().reopen(client);
  expect(annotations()).toEqual({ config });
});

test("settings that nobody has closed stay as they are", async () => {
  const { client, settings, annotations } = written();
  await settings().reopen(client);
  expect(annotations()).toEqual({ config });
});

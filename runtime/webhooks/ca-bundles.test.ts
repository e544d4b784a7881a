// What is made of a webhook configuration, and of one that can't be had.
import { describe, expect, test } from "vitest";
import { KubeClient } from "../kube/client.ts";
import { Unreachable } from "../kube/errors.ts";
import type { Transport } from "../kube/transport.ts";
import { bundlePatch, observeConfigurations, publishBundle, trustedBundles, type WebhookConfiguration } from "./ca-bundles.ts";

const name = { kind: "MutatingWebhookConfiguration", name: "hooks" } as const;

function configuration(...bundles: (string | undefined)[]): WebhookConfiguration {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "hooks", resourceVersion: "7" },
    webhooks: bundles.map((bundle, index) => ({ name: `w${index}`, clientConfig: bundle === undefined ? {} : { caBundle: btoa(bundle) } })),
  };
}

function answering(status: number): KubeClient {
  const send = async () => ({ status, headers: {}, text: "{}" });
  return new KubeClient({ send } as unknown as Transport, { fieldManager: "test" });
}

test("a patch touches only what differs, under the name and the version that were seen", () => {
  expect(bundlePatch(configuration("A", undefined, "B", "A"), "A")).toEqual([
    { op: "replace", path: "/metadata/resourceVersion", value: "7" },
    { op: "test", path: "/webhooks/1/name", value: "w1" },
    { op: "add", path: "/webhooks/1/clientConfig/caBundle", value: btoa("A") },
    { op: "test", path: "/webhooks/2/name", value: "w2" },
    { op: "add", path: "/webhooks/2/clientConfig/caBundle", value: btoa("A") },
  ]);
  expect(bundlePatch(configuration("A", "A"), "A")).toBeUndefined();
  expect(bundlePatch(configuration(), "A")).toBeUndefined();
});

describe("a configuration that can't be had", () => {
  test.each([
    ["a missing one has no webhook that could distrust us", 404, [], []],
    ["one that may not be read may trust nothing of ours", 403, [""], [expect.stringMatching(/can't be kept current in it/)]],
  ])("%s", async (_, status, trusted, problems) => {
    const observed = await observeConfigurations(answering(status), [name]);
    expect(trustedBundles(observed)).toEqual(trusted);
    expect(await publishBundle(answering(status), observed, "A")).toEqual(problems);
  });

  test("without an answer nothing is known, and the caller tries again", async () => {
    const send = () => Promise.reject(new Unreachable("no answer"));
    const kube = new KubeClient({ send } as unknown as Transport, { fieldManager: "test" });
    await expect(observeConfigurations(kube, [name])).rejects.toThrow(Unreachable);
  });
});

test("each webhook counts by itself", () => {
  expect(trustedBundles([{ state: "found", name, object: configuration("A", undefined, "B") }])).toEqual(["A", "", "B"]);
});

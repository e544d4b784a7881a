// Patches of webhook configurations, and configurations that can't be read.
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

test("a bundle patch changes only webhooks that differ, under the observed names and version", () => {
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

describe("a configuration that can't be read:", () => {
  test.each([
    ["a missing configuration has no webhook that could distrust us", 404, [], []],
    ["a forbidden configuration counts as trusting none of ours", 403, [""], [expect.stringMatching(/can't be kept current in it/)]],
  ])("%s", async (_, status, trusted, problems) => {
    const observed = await observeConfigurations(answering(status), [name]);
    expect(trustedBundles(observed)).toEqual(trusted);
    expect(await publishBundle(answering(status), observed, "A")).toEqual(problems);
  });

  test("without an answer of the API server, observing rejects and the caller retries", async () => {
    const send = () => Promise.reject(new Unreachable("no answer"));
    const kube = new KubeClient({ send } as unknown as Transport, { fieldManager: "test" });
    await expect(observeConfigurations(kube, [name])).rejects.toThrow(Unreachable);
  });
});

test("the trusted bundle is determined for each webhook", () => {
  expect(trustedBundles([{ state: "found", name, object: configuration("A", undefined, "B") }])).toEqual(["A", "", "B"]);
});

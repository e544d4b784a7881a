// The webhooks as any Pod of the network reaches them: requests that no API server has looked at.
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthority, issueCertificate } from "../runtime/certificates/issue.ts";
import type { KubeObject } from "../runtime/kube/object.ts";
import { createLog } from "../runtime/observability/log.ts";
import type { AdmissionRequest } from "../runtime/webhooks/admission.ts";
import { WebhookServer } from "../runtime/webhooks/server.ts";
import { validators } from "./admission.ts";
import { excessiveGrowth } from "./growth.fixture.ts";
import type { Known, Validator } from "./validator.ts";

const hour = 3_600_000;
const now = new Date();
const authority = await createAuthority({ commonName: "ca", lifetimeMs: hour, now });
const certificate = await issueCertificate(authority, {
  ...{ commonName: "w", ipAddresses: ["127.0.0.1"], usages: ["server"], lifetimeMs: hour, now },
});

let server: WebhookServer;
let port: number;
const agent = new Agent({ connect: { ca: authority.certificate } });
const logged: string[] = [];
/** As right after the operator's start. */
const nothing = { backups: { isSynced: false } } as Known;

beforeAll(async () => {
  const log = createLog({ level: "error", destination: { write: (line: string) => logged.push(line) } });
  server = new WebhookServer({ certificate, address: { host: "127.0.0.1", port: 0 }, log });
  for (const { path, validate } of validators) server.validate(path, (review) => validate(review, nothing));
  port = await server.listen();
});

afterAll(async () => {
  await agent.destroy();
  await server.stop();
});

type OurKind = "sampledb" | "restore";

interface Verdict {
  readonly allowed: boolean;
  readonly status?: { readonly message: string };
}

function validatorOf(kind: OurKind): Validator {
  const found = validators.find(({ resource }) => resource.kind.toLowerCase() === kind);
  if (!found) throw new Error(`there is no webhook for ${kind}`);
  return found;
}

function question(kind: OurKind, spec: unknown): AdmissionRequest {
  const [group, version] = ["sampledb.io", "v1alpha1"];
  return {
    ...{ uid: "1", operation: "CREATE", namespace: "default", name: "a", userInfo: { username: "somebody" }, dryRun: false },
    kind: { group, version, kind },
    resource: { group, version, resource: `${kind}s` },
    object: { metadata: { name: "a" }, spec } as unknown as KubeObject,
    oldObject: undefined,
  };
}

async function ask(kind: OurKind, spec: unknown): Promise<Verdict> {
  const answer = await request(`https://127.0.0.1:${port}${validatorOf(kind).path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: question(kind, spec) }),
    dispatcher: agent,
  });
  expect(answer.statusCode).toBe(200);
  return ((await answer.body.json()) as { response: Verdict }).response;
}

const minimal = { postgresVersion: 17, storage: { size: "1Gi" } };
const restore = { source: { sampleDBName: "a" }, destination: { type: "New", sampleDBName: "b" } };
const parameters = (values: object) => ({ ...minimal, postgresql: { parameters: values } });
const hba = (lines: readonly string[]) => ({ ...minimal, postgresql: { hba: lines } });
const blanks = (count: number) => `1${" ".repeat(count - 2)}!`;
const list = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`);
const map = (count: number, value: unknown) => Object.fromEntries(list(count).map((key) => [key, value]));
const affinity = (count: number) => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "a", matchLabelKeys: list(count) }] },
});
const placed = (count: number) => ({ ...restore, destination: { ...restore.destination, overrides: { affinity: affinity(count) } } });

/** By the size of what is wrong, with what is said of 100,000. */
const hostile: readonly (readonly [title: string, kind: OurKind, spec: (size: number) => unknown, message: RegExp])[] = [
  [
    "blanks in a setting",
    "sampledb",
    (size) => parameters({ work_mem: blanks(size) }),
    /parameters\[work_mem\]: has 100000 characters; at most 2048/,
  ],
  ["a long name of a setting", "sampledb", (size) => parameters({ [`a.${blanks(size)}`]: 1 }), /is not a setting's name/],
  ["many settings", "sampledb", (size) => parameters(map(size, 1)), /spec\.postgresql\.parameters: has 100000 entries; at most 256/],
  ["a long line of hba", "sampledb", (size) => hba([blanks(size)]), /spec\.postgresql\.hba\[0\]: has 100000 characters; at most 512/],
  ["many lines of hba", "sampledb", (size) => hba(list(size)), /spec\.postgresql\.hba: has 100000 entries; at most 64/],
  ["a long label", "sampledb", (size) => ({ ...minimal, nodeSelector: { [blanks(size)]: "x" } }), /is too long; a key is a name/],
  [
    "many labels",
    "sampledb",
    (size) => ({ ...minimal, nodeSelector: map(size, "x") }),
    /spec\.nodeSelector: has 100000 entries; at most 64/,
  ],
  [
    "a long schedule",
    "sampledb",
    (size) => ({ ...minimal, backup: { schedules: [{ name: "a", schedule: blanks(size) }] } }),
    /schedules\[0\]\.schedule: has 100000 characters; at most 128/,
  ],
  [
    "many keys of the Pod",
    "sampledb",
    (size) => ({ ...minimal, affinity: affinity(size) }),
    /matchLabelKeys: has 100000 entries; at most 16/,
  ],
  ["many keys of the Pod", "restore", placed, /matchLabelKeys: has 100000 entries; at most 16/],
  ["a list for a map", "sampledb", (size) => ({ ...minimal, nodeSelector: list(size) }), /spec\.nodeSelector: must be an object/],
  ["a string for the spec", "sampledb", blanks, /spec: must be an object/],
  ["no spec", "restore", () => undefined, /spec: must be an object/],
  [
    "another version",
    "sampledb",
    () => ({ ...parameters({ work_mem: 1 }), postgresVersion: 16 }),
    /spec\.postgresVersion: 16 is not allowed/,
  ],
];

test.each(hostile)(
  "%s (%s) is refused in a time that grows as its size does",
  async (_, kind, spec, message) => {
    const verdict = await ask(kind, spec(100_000));
    expect(verdict).toMatchObject({ allowed: false, status: { message: expect.stringMatching(message) } });
    expect(JSON.stringify(verdict).length).toBeLessThan(50_000);
    expect(logged).toEqual([]); // the fault is not the operator's
    expect(excessiveGrowth(1 << 15, (size) => validatorOf(kind).validate(question(kind, spec(size)), nothing))).toBeUndefined();
  },
  60_000,
); // takes a tenth of a second on a machine that is not busy

test("a request in which everything is wrong is answered with a hundred places", async () => {
  const values = Array.from({ length: 64 }, () => "not a value");
  const matchExpressions = Array.from({ length: 16 }, () => ({ key: "a", operator: "In", values }));
  const required = Array.from({ length: 16 }, () => ({ topologyKey: "a", labelSelector: { matchExpressions } }));
  const verdict = await ask("sampledb", {
    ...minimal,
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  });
  expect(verdict).toMatchObject({ allowed: false, status: { details: { causes: { length: 100 } } } });
});

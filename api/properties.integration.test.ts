// The zod schemas and the API server agree, over many generated objects.
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StandaloneControlPlane } from "../e2e/cluster/standalone.ts";
import { eventually } from "../tools/eventually.ts";
import { arbitraryValue, mutated } from "./crd/arbitrary.ts";
import { customResourceDefinition } from "./crd/definition.ts";
import { structuralSchema } from "./crd/structural-schema.ts";
import { type Kind, kinds } from "./kinds.ts";
import { apiVersion } from "./version.ts";

const runs = { numRuns: 400, interruptAfterTimeLimit: 40_000 };

const rules = "x-kubernetes-validations";

/** An object or a list with rules. Rules of single values are left out: zod has them as patterns. */
function isStructure(schema: { type?: string; [rules]?: object } | undefined): boolean {
  return schema?.[rules] !== undefined && (schema.type === "object" || schema.type === "array");
}

let plane: StandaloneControlPlane;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  for (const kind of kinds) {
    // Without the rules between fields, which zod does not know: they have tests of their own.
    const definition = JSON.parse(JSON.stringify(customResourceDefinition(kind)), (_, value) =>
      isStructure(value) ? { ...value, [rules]: undefined } : value,
    );
    const made = await plane.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    expect(made?.status, JSON.stringify(made?.body)).toBe(201);
  }
  for (const { plural } of kinds) {
    await eventually(
      `${plural} are served`,
      30_000,
      async () => (await plane.request("GET", `/apis/${apiVersion}/${plural}`))?.status === 200,
    );
  }
});

afterAll(() => plane.stop());

/** The API server's result of a dry run. */
async function send(kind: Kind, spec: unknown) {
  const path = `/apis/${apiVersion}/namespaces/default/${kind.plural}?dryRun=All`;
  return plane.request("POST", path, { apiVersion, kind: kind.kind, metadata: { name: "generated" }, spec });
}

describe.each(kinds.map((kind) => [kind.kind, kind] as const))("%s", (_, kind) => {
  const specs = arbitraryValue(structuralSchema(kind.spec));

  test("an object that the schema allows is accepted with the same defaults, and defaulting twice changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(specs, async (spec) => {
        fc.pre(kind.spec.safeParse(spec).success);
        const answer = await send(kind, spec);
        expect(answer?.status, JSON.stringify(answer?.body)).toBe(201);
        const stored = answer?.body["spec"];
        const parsed = kind.spec.parse(spec);
        expect(stored).toEqual(parsed);
        expect(kind.spec.parse(stored)).toEqual(parsed);
      }),
      runs,
    );
  });

  test("the schema and the API server refuse the same objects", async () => {
    await fc.assert(
      fc.asyncProperty(
        specs.chain((spec) => mutated(spec)),
        async (spec) => {
          const answer = await send(kind, spec);
          const accepted = answer?.status === 201;
          const parsed = kind.spec.safeParse(spec);
          const reasons = { server: accepted ? [] : [answer?.body["message"]], zod: parsed.error?.issues ?? [] };
          expect(accepted, JSON.stringify(reasons)).toBe(parsed.success);
          // A field of a newer version is dropped, and never a crash.
          if (accepted) expect(answer.body["spec"]).toEqual(parsed.data);
        },
      ),
      runs,
    );
  });
});

// The CustomResourceDefinition of a kind.
import type { Kind } from "../kinds.ts";
import { group, version } from "../version.ts";
import { type Schema, structuralSchema } from "./structural-schema.ts";

/**
 * `kubectl get sampledb-all` lists all three kinds. Never `all`: kubectl delete all --all must not reach a database. Nor
 * `sampledb`: kubectl prefers a category to a kind of that name, and delete sampledb --all would reach Backups as well.
 */
const category = "sampledb-all";

export function customResourceDefinition(kind: Kind): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        shortNames: kind.shortNames,
        categories: [category],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {}, ...(kind.scalable ? { scale } : {}) },
          additionalPrinterColumns: kind.columns,
          selectableFields: kind.selectableFields.map((jsonPath) => ({ jsonPath })),
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}

const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" };

function objectSchema(kind: Kind): Schema {
  return {
    type: "object",
    description: kind.description,
    required: ["spec"],
    properties: {
      apiVersion: { type: "string", description: "The version of the API that this object is written in." },
      kind: { type: "string", description: "What this object is." },
      metadata: { type: "object" },
      spec: { description: "The desired state, written by the user.", ...structuralSchema(kind.spec) },
      status: { description: "The observed state, written by the operator.", ...structuralSchema(kind.status) },
    },
    ...(kind.rules.length > 0 ? { "x-kubernetes-validations": kind.rules } : {}),
  };
}

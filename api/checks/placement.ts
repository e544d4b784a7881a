// Where Pods may run: what the API server would refuse in the Pod is refused in the SampleDB, where somebody reads it.

import type { SampleDBSpec } from "../sampledb.ts";
import { labelKey, labelKeys, labelValue, namespace } from "./names.ts";
import { resources } from "./resources.ts";
import { type LabelSelector, labelSelector, nodeSelectorTerm, selectedKeys } from "./selectors.ts";
import { allOf, type Check, each, shown, type Violation, within } from "./violation.ts";

type Affinity = NonNullable<SampleDBSpec["affinity"]>;
type NodeAffinity = NonNullable<Affinity["nodeAffinity"]>;
type PodAffinity = NonNullable<Affinity["podAffinity"]>;
type PodAffinityTerm = NonNullable<PodAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>[number];
type WeightedTerm = NonNullable<PodAffinity["preferredDuringSchedulingIgnoredDuringExecution"]>[number];
type Toleration = NonNullable<SampleDBSpec["tolerations"]>[number];
type SpreadConstraint = NonNullable<SampleDBSpec["topologySpreadConstraints"]>[number];

const toleration: Check<Toleration> = function* ({ key = "", operator = "Equal", value = "", effect, tolerationSeconds }, field) {
  if (key !== "") yield* labelKey(key, `${field}.key`);
  else if (operator !== "Exists")
    yield { field: `${field}.operator`, message: `${shown(operator)} needs a key; without one only Exists is allowed` };
  if (operator === "Equal") yield* labelValue(value, `${field}.value`);
  else if (value !== "")
    yield { field: `${field}.value`, message: `${shown(value)} goes with operator Equal; with Exists no value is allowed` };
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    const given = effect === undefined ? "no effect" : `effect ${effect}`;
    yield {
      field: `${field}.tolerationSeconds`,
      message: `${tolerationSeconds} stands beside ${given}; it is allowed with effect NoExecute only`,
    };
  }
};

/** Keys whose values come from the Pod itself; the API server makes expressions of them, so each may be there once. */
function* keysOfThePod(keys: readonly string[], taken: ReadonlySet<string>, field: string): Generator<Violation> {
  const seen = new Set<string>();
  for (const [index, key] of keys.entries()) {
    const place = `${field}[${index}]`;
    yield* labelKey(key, place);
    if (taken.has(key))
      yield { field: place, message: `${shown(key)} is compared by labelSelector too; allowed are keys that it does not name` };
    else if (seen.has(key)) yield { field: place, message: `${shown(key)} is there twice; each key is allowed once` };
    seen.add(key);
  }
}

const podAffinityTerm: Check<PodAffinityTerm> = allOf<PodAffinityTerm>(
  within("labelSelector", labelSelector),
  within("namespaceSelector", labelSelector),
  within("namespaces", each(namespace)),
  within("topologyKey", labelKey),
  function* ({ matchLabelKeys = [], mismatchLabelKeys = [], labelSelector: selector }, field) {
    yield* keysBesideSelector(matchLabelKeys, selector, `${field}.matchLabelKeys`);
    yield* keysBesideSelector(mismatchLabelKeys, selector, `${field}.mismatchLabelKeys`);
    const mismatching = new Set(mismatchLabelKeys);
    const both = matchLabelKeys.find((key) => mismatching.has(key));
    if (both !== undefined)
      yield { field: `${field}.mismatchLabelKeys`, message: `${shown(both)} is in matchLabelKeys too; a key is allowed in one of them` };
  },
);

function* keysBesideSelector(keys: readonly string[], selector: LabelSelector | undefined, field: string): Generator<Violation> {
  if (keys.length > 0 && selector === undefined) {
    yield { field, message: `[${keys.map(shown).join(", ")}] needs a labelSelector beside it; leave it out, or add one` };
  }
  yield* keysOfThePod(keys, selectedKeys(selector), field);
}

const podAffinity = allOf<PodAffinity>(
  within("requiredDuringSchedulingIgnoredDuringExecution", each(podAffinityTerm)),
  within(
    "preferredDuringSchedulingIgnoredDuringExecution",
    each(within<WeightedTerm, "podAffinityTerm">("podAffinityTerm", podAffinityTerm)),
  ),
);

const nodeAffinity = allOf<NodeAffinity>(
  within("requiredDuringSchedulingIgnoredDuringExecution", within("nodeSelectorTerms", each(nodeSelectorTerm))),
  within("preferredDuringSchedulingIgnoredDuringExecution", each(within("preference", nodeSelectorTerm))),
);

const affinity = allOf<Affinity>(
  within("nodeAffinity", nodeAffinity),
  within("podAffinity", podAffinity),
  within("podAntiAffinity", podAffinity),
);

const spreadConstraint = allOf<SpreadConstraint>(
  within("topologyKey", labelKey),
  within("labelSelector", labelSelector),
  function* ({ matchLabelKeys = [], labelSelector: selector, minDomains, whenUnsatisfiable }, field) {
    yield* keysOfThePod(matchLabelKeys, selectedKeys(selector), `${field}.matchLabelKeys`);
    if (minDomains !== undefined && whenUnsatisfiable !== "DoNotSchedule") {
      yield {
        field: `${field}.minDomains`,
        message: `${minDomains} stands beside ${whenUnsatisfiable}; it is allowed with whenUnsatisfiable: DoNotSchedule only`,
      };
    }
  },
);

const differentConstraints: Check<readonly SpreadConstraint[]> = function* (constraints, field) {
  const seen = new Set<string>();
  for (const [index, { topologyKey, whenUnsatisfiable }] of constraints.entries()) {
    const pair = `${topologyKey} ${whenUnsatisfiable}`;
    if (seen.has(pair)) {
      yield {
        field: `${field}[${index}]`,
        message: `${shown(topologyKey)} with ${whenUnsatisfiable} is there twice; each pair of topologyKey and whenUnsatisfiable is allowed once`,
      };
    }
    seen.add(pair);
  }
};

/** What a SampleDB and the overrides of a Restore have in common. */
type Placement = Pick<SampleDBSpec, "resources" | "nodeSelector" | "affinity" | "tolerations">;

export const placement = allOf<Placement>(
  within("resources", resources),
  within("nodeSelector", labelKeys),
  within("affinity", affinity),
  within("tolerations", each(toleration)),
);

export const topologySpread = allOf<readonly SpreadConstraint[]>(each(spreadConstraint), differentConstraints);

// Selectors of labels and of nodes: operators with the values that they take.
import { labelKey, labelKeys, labelValue } from "./names.ts";
import { allOf, type Check, each, shown, type Violation, within } from "./violation.ts";

export interface Expression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values?: readonly string[] | undefined;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly Expression[] | undefined;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly Expression[] | undefined;
  readonly matchFields?: readonly Expression[] | undefined;
}

const operatorTakesItsValues: Check<Expression> = function* ({ operator, values = [] }, field): Generator<Violation> {
  const place = `${field}.values`;
  const given = `[${values.map(shown).join(", ")}]`;
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) yield { field: place, message: `${given} is empty; operator ${operator} needs one value or more` };
      return;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0)
        yield { field: place, message: `${given} goes with no operator ${operator}, which takes no values; use In or NotIn` };
      return;
    case "Gt":
    case "Lt":
      if (values.length !== 1 || !/^[-+]?\d{1,18}$/.test(values[0] ?? ""))
        yield { field: place, message: `${given} is not what operator ${operator} takes: exactly one integer, such as ["4"]` };
      return;
  }
};

const labelValues: Check<Expression> = function* ({ values = [] }, field) {
  yield* each(labelValue)(values, `${field}.values`);
};

/** Over labels of Pods and namespaces: the API server looks at the values too. */
const labelExpression = allOf<Expression>(within("key", labelKey), operatorTakesItsValues, labelValues);
const nodeExpression = allOf<Expression>(within("key", labelKey), operatorTakesItsValues);

/** Nodes have one field that can be asked for: their name. */
const nodeField: Check<Expression> = function* ({ key, operator, values = [] }, field) {
  if (key !== "metadata.name")
    yield { field: `${field}.key`, message: `${shown(key)} is not a field that nodes are chosen by; allowed is metadata.name` };
  if (operator !== "In" && operator !== "NotIn")
    yield { field: `${field}.operator`, message: `${shown(operator)} goes with labels; allowed for a field are In and NotIn` };
  else if (values.length !== 1)
    yield {
      field: `${field}.values`,
      message: `[${values.map(shown).join(", ")}] is not what a field takes: exactly one value, a node's name`,
    };
};

export const labelSelector = allOf<LabelSelector>(within("matchLabels", labelKeys), within("matchExpressions", each(labelExpression)));
export const nodeSelectorTerm = allOf<NodeSelectorTerm>(
  within("matchExpressions", each(nodeExpression)),
  within("matchFields", each(nodeField)),
);

/** The keys that the selector itself compares. */
export function selectedKeys(selector: LabelSelector | undefined): ReadonlySet<string> {
  return new Set([...Object.keys(selector?.matchLabels ?? {}), ...(selector?.matchExpressions ?? []).map(({ key }) => key)]);
}

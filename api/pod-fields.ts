// Fields with the same meaning as in a Pod.
import * as z from "zod";
import { bounded, labels, listMap, objectName, quantity } from "./fields.ts";
import { type Rule, withRules } from "./rules.ts";

const resourceList = bounded(z.record(z.string(), quantity), 16);

export const resources = z.object({
  requests: resourceList.optional().describe("What each Pod is sure to get, such as `cpu: 500m` and `memory: 1Gi`."),
  limits: resourceList
    .optional()
    .describe("What each Pod gets at most. A memory limit below what PostgreSQL is set to use ends in restarts."),
});

// The API server refuses Pods that break these rules. Checked here too, because the operator could only fail again and again.
const valuesRule: Rule = {
  rule: "(self.operator in ['Exists', 'DoesNotExist']) == (!has(self.values) || self.values.size() == 0)",
  message: "values must have an entry or more with this operator, and none with Exists and DoesNotExist",
  fieldPath: ".values",
};

const expression = z.object({
  key: z.string().min(1).max(317).describe("The label's key."),
  operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("How the label is compared."),
  values: z.array(z.string().max(63)).max(64).optional().describe("What it is compared with; none for Exists and DoesNotExist."),
});

const nodeExpression = expression.extend({
  operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]).describe("How the label is compared."),
});

const labelSelector = z.object({
  matchLabels: labels.optional().describe("Labels that must all be there."),
  matchExpressions: z.array(withRules(expression, valuesRule)).max(16).optional().describe("Comparisons that must all hold."),
});

const nodeSelectorTerm = z.object({
  matchExpressions: z
    .array(withRules(nodeExpression, valuesRule))
    .max(16)
    .optional()
    .describe("Comparisons of the node's labels that must all hold."),
  matchFields: z
    .array(withRules(nodeExpression, valuesRule))
    .max(16)
    .optional()
    .describe("Comparisons of the node's fields that must all hold."),
});

const podAffinityTerm = z.object({
  labelSelector: labelSelector.optional().describe("Which Pods are meant."),
  matchLabelKeys: z.array(z.string().max(317)).max(16).optional().describe("Keys whose values are taken from the Pod itself."),
  mismatchLabelKeys: z.array(z.string().max(317)).max(16).optional().describe("Keys whose values must differ from the Pod's own."),
  namespaceSelector: labelSelector.optional().describe("Which namespaces are meant; by default the Pod's own."),
  namespaces: z.array(z.string().max(63)).max(64).optional().describe("Which namespaces are meant, by name."),
  topologyKey: z.string().min(1).max(317).describe("The node label whose value makes nodes the same place."),
});

const podAffinity = z.object({
  requiredDuringSchedulingIgnoredDuringExecution: z.array(podAffinityTerm).max(16).optional().describe("Must hold."),
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(
      z.object({
        weight: z.int().min(1).max(100).describe("How much it counts, 1 to 100."),
        podAffinityTerm: podAffinityTerm.describe("What is preferred."),
      }),
    )
    .max(16)
    .optional()
    .describe("Should hold."),
});

export const affinity = z.object({
  nodeAffinity: z
    .object({
      requiredDuringSchedulingIgnoredDuringExecution: z
        .object({ nodeSelectorTerms: z.array(nodeSelectorTerm).min(1).max(16).describe("Of which one must hold.") })
        .optional()
        .describe("Must hold."),
      preferredDuringSchedulingIgnoredDuringExecution: z
        .array(
          z.object({
            weight: z.int().min(1).max(100).describe("How much it counts, 1 to 100."),
            preference: nodeSelectorTerm.describe("What is preferred."),
          }),
        )
        .max(16)
        .optional()
        .describe("Should hold."),
    })
    .optional()
    .describe("Which nodes."),
  podAffinity: podAffinity.optional().describe("Near which Pods."),
  podAntiAffinity: podAffinity.optional().describe("Away from which Pods."),
});

export const tolerations = z
  .array(
    withRules(
      z.object({
        key: z.string().max(317).optional().describe("The taint's key; all taints when empty, with operator Exists."),
        operator: z.enum(["Exists", "Equal"]).optional().describe("How the taint is compared; Equal by default."),
        value: z.string().max(63).optional().describe("The taint's value, with operator Equal."),
        effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional().describe("The taint's effect; all when empty."),
        tolerationSeconds: z
          .int()
          .min(0)
          .max(2_147_483_647)
          .optional()
          .describe("For how many seconds, with effect NoExecute; for ever when empty."),
      }),
      {
        rule: "!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''",
        message: "value goes with operator: Equal, and not with Exists",
        fieldPath: ".value",
      },
      {
        rule: "(has(self.key) && self.key != '') || (has(self.operator) && self.operator == 'Exists')",
        message: "key may be left out only with operator: Exists, which is all taints then",
        fieldPath: ".key",
      },
      {
        rule: "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        message: "tolerationSeconds goes with effect: NoExecute, and with no other",
        fieldPath: ".tolerationSeconds",
      },
    ),
  )
  .max(64);

export const topologySpreadConstraints = z
  .array(
    z.object({
      maxSkew: z.int().min(1).max(2_147_483_647).describe("By how many Pods places may differ."),
      topologyKey: z.string().min(1).max(317).describe("The node label whose value is the place."),
      whenUnsatisfiable: z.enum(["DoNotSchedule", "ScheduleAnyway"]).describe("What happens to a Pod that fits nowhere."),
      labelSelector: labelSelector.optional().describe("Which Pods are counted; by default those of this SampleDB."),
      matchLabelKeys: z.array(z.string().max(317)).max(16).optional().describe("Keys whose values are taken from the Pod itself."),
      minDomains: z.int().min(1).max(2_147_483_647).optional().describe("How many places there must be at least."),
      nodeAffinityPolicy: z.enum(["Honor", "Ignore"]).optional().describe("Whether nodes that the Pod does not want are counted."),
      nodeTaintsPolicy: z.enum(["Honor", "Ignore"]).optional().describe("Whether nodes that the Pod does not tolerate are counted."),
    }),
  )
  .max(8);

export const imagePullSecrets = listMap(
  z.array(z.object({ name: objectName.describe("The Secret's name, in the SampleDB's namespace.") })).max(16),
  "name",
);

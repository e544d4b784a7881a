import { spread, testViolations, type ViolationTable } from "./violation-table.ts";

const node = (expression: object, kind = "matchExpressions") => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ [kind]: [expression] }] } } },
});
const nodePlace = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]";
const pods = (term: object) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname", ...term }] } },
});
const podPlace = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";

const table: ViolationTable = {
  resources: [
    [
      { resources: { requests: { cpu: 2 }, limits: { cpu: "1500m" } } },
      "spec.resources.requests[cpu]",
      '2 is above the limit "1500m"; a request may be at most the limit',
    ],
    [
      { resources: { requests: { memory: "1Gi" }, limits: { memory: "1G" } } },
      "spec.resources.requests[memory]",
      '"1Gi" is above the limit "1G"',
    ],
    [
      { resources: { requests: { gpu: 1 } } },
      "spec.resources.requests[gpu]",
      '"gpu" is not a resource of an instance; allowed are cpu, memory, ephemeral-storage and hugepages-<size>',
    ],
    [{ resources: { limits: { "hugepages-": 1, cpu: 1 } } }, "spec.resources.limits[hugepages-]", '"hugepages-" is not a resource'],
    [{ resources: { limits: { memory: "1e99" } } }, "spec.resources.limits[memory]", '"1e99" is not a quantity; allowed is a number'],
    [{ resources: { limits: { memory: "512m" } } }, "spec.resources.limits[memory]", '"512m" of memory is a part of a byte; write 512Mi'],
    [
      { resources: { requests: { cpu: 1, "hugepages-2Mi": "2Mi" } } },
      "spec.resources.requests[hugepages-2Mi]",
      '"2Mi" needs the same in limits[hugepages-2Mi]',
    ],
    [
      { resources: { requests: { cpu: 1, "hugepages-2Mi": "2Mi" }, limits: { "hugepages-2Mi": "4Mi" } } },
      "spec.resources.requests[hugepages-2Mi]",
      '"2Mi" differs from the limit "4Mi"',
    ],
    [{ resources: { limits: { "hugepages-2Mi": "4Mi" } } }, "spec.resources", "huge pages need cpu or memory beside them"],
  ],
  tolerations: [
    [{ tolerations: [{ value: "x" }] }, "spec.tolerations[0].operator", '"Equal" needs a key; without one only Exists is allowed'],
    [
      { tolerations: [{ key: "a", operator: "Exists", value: "x" }] },
      "spec.tolerations[0].value",
      '"x" goes with operator Equal; with Exists no value is allowed',
    ],
    [
      { tolerations: [{ key: "a", tolerationSeconds: 5 }] },
      "spec.tolerations[0].tolerationSeconds",
      "5 stands beside no effect; it is allowed with effect NoExecute only",
    ],
    [
      { tolerations: [{ key: "a", effect: "NoSchedule", tolerationSeconds: 5 }] },
      "spec.tolerations[0].tolerationSeconds",
      "5 stands beside effect NoSchedule",
    ],
    [{ tolerations: [{ key: "a b" }] }, "spec.tolerations[0].key", '"a b" is not a key'],
    [
      { tolerations: [{ key: "a", value: "b c" }] },
      "spec.tolerations[0].value",
      '"b c" is not a label\'s value; allowed are at most 63 letters',
    ],
  ],
  affinity: [
    [node({ key: "a", operator: "In" }), `${nodePlace}.matchExpressions[0].values`, "[] is empty; operator In needs one value or more"],
    [
      node({ key: "a", operator: "NotIn", values: [] }),
      `${nodePlace}.matchExpressions[0].values`,
      "operator NotIn needs one value or more",
    ],
    [
      node({ key: "a", operator: "Exists", values: ["x"] }),
      `${nodePlace}.matchExpressions[0].values`,
      '["x"] goes with no operator Exists, which takes no values; use In or NotIn',
    ],
    [
      node({ key: "a", operator: "Gt", values: ["x"] }),
      `${nodePlace}.matchExpressions[0].values`,
      '["x"] is not what operator Gt takes: exactly one integer',
    ],
    [
      node({ key: "a", operator: "Lt", values: ["1", "2"] }),
      `${nodePlace}.matchExpressions[0].values`,
      '["1", "2"] is not what operator Lt takes',
    ],
    [node({ key: "a b", operator: "Exists" }), `${nodePlace}.matchExpressions[0].key`, '"a b" is not a key'],
    [
      node({ key: "spec.x", operator: "In", values: ["n"] }, "matchFields"),
      `${nodePlace}.matchFields[0].key`,
      '"spec.x" is not a field that nodes are chosen by; allowed is metadata.name',
    ],
    [
      node({ key: "metadata.name", operator: "Exists" }, "matchFields"),
      `${nodePlace}.matchFields[0].operator`,
      '"Exists" goes with labels; allowed for a field are In and NotIn',
    ],
    [
      node({ key: "metadata.name", operator: "In", values: ["a", "b"] }, "matchFields"),
      `${nodePlace}.matchFields[0].values`,
      "exactly one value, a node's name",
    ],
    [pods({ topologyKey: "a b" }), `${podPlace}.topologyKey`, '"a b" is not a key'],
    [pods({ namespaces: ["A"] }), `${podPlace}.namespaces[0]`, '"A" is not a namespace\'s name'],
    [pods({ labelSelector: { matchLabels: { "a b": "x" } } }), `${podPlace}.labelSelector.matchLabels[a b]`, '"a b" is not a key'],
    [
      pods({ labelSelector: { matchExpressions: [{ key: "a", operator: "In", values: ["-"] }] } }),
      `${podPlace}.labelSelector.matchExpressions[0].values[0]`,
      '"-" is not a label\'s value',
    ],
    [
      pods({ namespaceSelector: { matchExpressions: [{ key: "a", operator: "DoesNotExist", values: ["x"] }] } }),
      `${podPlace}.namespaceSelector.matchExpressions[0].values`,
      "operator DoesNotExist",
    ],
    [pods({ matchLabelKeys: ["a"] }), `${podPlace}.matchLabelKeys`, '["a"] needs a labelSelector beside it'],
    [
      pods({ labelSelector: { matchLabels: { a: "x" } }, matchLabelKeys: ["a"] }),
      `${podPlace}.matchLabelKeys[0]`,
      '"a" is compared by labelSelector too',
    ],
    [
      pods({ labelSelector: {}, matchLabelKeys: ["a"], mismatchLabelKeys: ["a"] }),
      `${podPlace}.mismatchLabelKeys`,
      '"a" is in matchLabelKeys too; a key is allowed in one of them',
    ],
  ],
  "topology spread": [
    [
      spread({}, {}),
      "spec.topologySpreadConstraints[1]",
      '"zone" with DoNotSchedule is there twice; each pair of topologyKey and whenUnsatisfiable is allowed once',
    ],
    [
      spread({ whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 }),
      "spec.topologySpreadConstraints[0].minDomains",
      "2 stands beside ScheduleAnyway; it is allowed with whenUnsatisfiable: DoNotSchedule only",
    ],
    [spread({ topologyKey: "a b" }), "spec.topologySpreadConstraints[0].topologyKey", '"a b" is not a key'],
    [
      spread({ matchLabelKeys: ["a", "a"] }),
      "spec.topologySpreadConstraints[0].matchLabelKeys[1]",
      '"a" is there twice; each key is allowed once',
    ],
  ],
};

testViolations(table);

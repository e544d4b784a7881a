// Rights parted into those of namespaces and those of the cluster: together they are the whole.
import { expect, test } from "vitest";
import { clusterRules, namespacedRules, type Rule } from "./permissions.ts";

const rules: Rule[] = [
  { apiGroups: [""], resources: ["pods", "persistentvolumes"], verbs: ["get"] },
  { apiGroups: ["admissionregistration.k8s.io"], resources: ["validatingwebhookconfigurations"], resourceNames: ["x"], verbs: ["patch"] },
  { apiGroups: ["sampledb.io"], resources: ["sampledbs/status"], verbs: ["patch"] },
];

test("a rule for both is parted", () => {
  expect(namespacedRules(rules)).toEqual([{ ...rules[0], resources: ["pods"] }, rules[2]]);
  expect(clusterRules(rules)).toEqual([{ ...rules[0], resources: ["persistentvolumes"] }, rules[1]]);
});

test("a rule for several groups can't be parted", () => {
  const several = { apiGroups: ["", "apps"], resources: ["pods"], verbs: ["get"] };
  expect(() => namespacedRules([several])).toThrow("a rule for several groups can't be parted: , apps");
});

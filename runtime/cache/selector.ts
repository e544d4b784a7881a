// Evaluates label and field selectors. Needed for this process's own writes: a written object may be outside of the selection,
// and a watch says nothing about an object that it never brought.
import type { Selection } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";

type Test = (object: KubeObject) => boolean;

/** Selects as the API server does. A term that can't be parsed here selects every object. */
export function selects({ labelSelector, fieldSelector }: Selection): Test {
  const tests = [...split(labelSelector).map(labelTest), ...split(fieldSelector).map(fieldTest)];
  return (object) => tests.every((test) => test(object));
}

/** Splits at commas outside of parentheses. */
function split(selector = ""): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== "");
}

function labelTest(term: string): Test {
  const value = (label: string) => (object: KubeObject) => object.metadata.labels?.[label];
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term);
  if (set) {
    const [, label = "", operator, list = ""] = set;
    const values = list.split(",").map((one) => one.trim());
    const found = (object: KubeObject) => values.includes(value(label)(object) ?? "\0");
    return operator === "in" ? found : (object) => !found(object);
  }
  const equality = /^([^\s=!]+)\s*(!=|==?)\s*(\S*)$/.exec(term);
  if (equality) {
    const [, label = "", operator, wanted] = equality;
    return (object) => (value(label)(object) === wanted) === (operator !== "!=");
  }
  const existence = /^(!?)\s*([^\s=!()]+)$/.exec(term);
  if (!existence) return () => true;
  const [, negated, label = ""] = existence;
  return (object) => (value(label)(object) !== undefined) === (negated === "");
}

function fieldTest(term: string): Test {
  const [, path, operator, wanted] = /^([^\s=!]+)\s*(!=|==?)\s*(.*)$/.exec(term) ?? [];
  if (path === undefined) return () => true;
  return (object) => (fieldOf(object, path.split(".")) === wanted) === (operator !== "!=");
}

function fieldOf(object: unknown, [name, ...rest]: readonly string[]): string {
  if (name === undefined) return typeof object === "object" ? "" : String(object);
  return typeof object === "object" && object !== null ? fieldOf((object as Record<string, unknown>)[name] ?? "", rest) : "";
}

// Objects become templates: what a path replaces, and what stays to the letter.
import { expect, test } from "vitest";
import { field, lines, templateOf, value } from "./template.ts";

const everywhere = { text: "here", go: "$.Release.Namespace" };
const object = { metadata: { namespace: "here" }, spec: { replicas: 2, args: ["--a=1", "--b"], items: [{ name: "x", image: "y" }] } };

test.each([
  ["a number", { "spec.replicas": value("$.Values.replicas") }, "  replicas: {{ $.Values.replicas }}"],
  ["a field of an item by its name", { "spec.items[x].image": value("$.Values.image") }, "      image: {{ $.Values.image }}"],
  ["an argument by its name", { "spec.args[--a]": lines("- --a={{ 3 }}") }, "    - --a={{ 3 }}"],
  ["lines after the last item", { "spec.args[+]": lines("{{- nindent INDENTATION }}") }, "    - --b\n    {{- nindent 4 }}"],
  [
    "a field that is left out when it is empty",
    { "spec.new": field("$.Values.new") },
    "  {{- with $.Values.new }}\n  new:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}",
  ],
  ["the namespace, quoted", {}, "  namespace: {{ $.Release.Namespace | quote }}"],
])("%s", (_, substitutes, expected) => {
  expect(templateOf(object, substitutes, everywhere)).toContain(expected);
});

test("the namespace in the middle of a text", () => {
  expect(templateOf({ user: "account:here:name" }, {}, everywhere)).toBe("user: account:{{ $.Release.Namespace }}:name");
});

test("braces of the object itself are no template", () => {
  expect(templateOf({ text: "{{ $labels.name }}" }, {}, everywhere)).toBe('text: "{{ "{{" }} $labels.name }}"');
});

test("a path that leads nowhere is a mistake", () => {
  expect(() => templateOf(object, { "spec.replica": value("x") }, everywhere)).toThrow(
    "the chart replaces spec.replica, and there is no replica",
  );
  expect(() => templateOf(object, { "spec.items[z].image": value("x") }, everywhere)).toThrow("there is no [z]");
});

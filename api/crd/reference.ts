// The reference page: every field of every kind in words, with an example for each group of fields.
import { stringify } from "yaml";
import type { Kind } from "../kinds.ts";
import { apiVersion } from "../version.ts";
import { type Schema, structuralSchema } from "./structural-schema.ts";

/** Sample objects by kind, from which the examples are cut out; the fullest of each kind serves best. */
export type Samples = Readonly<Record<string, { readonly spec: Readonly<Record<string, unknown>> }>>;

export function referencePage(kinds: readonly Kind[], samples: Samples, sizes: ReadonlyMap<string, number>): string {
  return [
    "# API reference",
    "",
    "Made from the schemas under `api/` by `make manifests`; changes here are lost.",
    "",
    `Group and version: \`${apiVersion}\`. All kinds are namespaced. \`kubectl explain\` shows the same in the cluster.`,
    "",
    "Whoever may create a SampleDB can run images of their choice in that namespace, with the namespace's own limits and no",
    "others: give the role `sampledb-sampledb-editor` to people who may create Pods there.",
    "",
    "| kind | short name | roles | size of the CRD |",
    "|---|---|---|---|",
    ...kinds.map(
      ({ kind, shortNames, singular, plural }) =>
        `| [${kind}](#${singular}) | \`${shortNames.join("`, `")}\` | \`sampledb-${singular}-{admin,editor,viewer}\` | ${Math.round((sizes.get(plural) ?? 0) / 1024)} KiB |`,
    ),
    "",
    "The sizes are those of the manifests: far below what etcd stores (1.5 MiB) and what fits into the annotation of a client-side",
    "`kubectl apply` (256 KiB); `make install` applies on the server's side and needs no such annotation.",
    ...kinds.flatMap((kind) => section(kind, samples[kind.kind]?.spec ?? {})),
    "",
  ].join("\n");
}

function section(kind: Kind, example: Readonly<Record<string, unknown>>): string[] {
  const spec = structuralSchema(kind.spec);
  const groups = Object.entries(properties(spec));
  const simple = groups.filter(([, schema]) => !isGroup(schema));
  const nested = groups.filter(([, schema]) => isGroup(schema));
  return [
    "",
    `## ${kind.kind}`,
    "",
    kind.description,
    "",
    ...columns(kind),
    ...rules("", [...kind.rules.map(({ message }) => message), ...ruleMessages(spec)]),
    "### spec",
    "",
    ...table(simple, spec),
    ...yamlExample(
      pick(
        example,
        simple.map(([name]) => name),
      ),
    ),
    ...nested.flatMap(([name, schema]) => [
      `### spec.${name}`,
      "",
      String(schema["description"] ?? ""),
      "",
      ...table(flatten(schema, ""), schema),
      ...rules(`spec.${name}`, allRuleMessages(schema)),
      ...yamlExample(pick(example, [name])),
    ]),
    "### status",
    "",
    "Written by the operator; what is, never what is hoped.",
    "",
    ...table(flatten(structuralSchema(kind.status), ""), {}),
  ];
}

function columns(kind: Kind): string[] {
  return [
    "| column of `kubectl get` | |",
    "|---|---|",
    ...kind.columns.map(({ name, description, priority }) => `| ${name}${priority ? " (`-o wide`)" : ""} | ${description} |`),
    "",
  ];
}

function table(fields: readonly (readonly [string, Schema])[], parent: Schema): string[] {
  if (fields.length === 0) return [];
  const required = new Set((parent["required"] as string[] | undefined) ?? []);
  return [
    "| field | type | default | |",
    "|---|---|---|---|",
    ...fields.map(
      ([path, schema]) =>
        `| \`${path}\`${required.has(path) ? " (required)" : ""} | ${type(schema)} | ${defaultOf(schema)} | ${escapeCell(String(schema["description"] ?? ""))} |`,
    ),
    "",
  ];
}

/** Every field below, with its path. */
function flatten(schema: Schema, prefix: string): [string, Schema][] {
  const inner = (schema["items"] as Schema | undefined) ?? schema;
  return Object.entries(properties(inner)).flatMap(([name, field]): [string, Schema][] => {
    const path = `${prefix}${name}${field["type"] === "array" && isGroup(field) ? "[]" : ""}`;
    return [[path, field], ...(isGroup(field) ? flatten(field, `${path}.`) : [])];
  });
}

function properties(schema: Schema): Record<string, Schema> {
  return (schema["properties"] as Record<string, Schema> | undefined) ?? {};
}

/** An object with fields of its own, or a list of such. */
function isGroup(schema: Schema): boolean {
  return Object.keys(properties((schema["items"] as Schema | undefined) ?? schema)).length > 0;
}

function type(schema: Schema): string {
  if (Array.isArray(schema["enum"])) return (schema["enum"] as unknown[]).map((value) => `\`${value}\``).join(", ");
  if (schema["x-kubernetes-int-or-string"]) return "number or string";
  if (schema["type"] === "array") return `list of ${type(schema["items"] as Schema)}`;
  if (schema["additionalProperties"]) return `map to ${type(schema["additionalProperties"] as Schema)}`;
  const range = [schema["minimum"] ?? "", schema["maximum"] ?? ""];
  return `${schema["type"]}${range.some((bound) => bound !== "") ? `, ${range.join("–")}` : ""}`;
}

function defaultOf(schema: Schema): string {
  return schema["default"] === undefined || isGroup(schema) ? "" : `\`${JSON.stringify(schema["default"]).replaceAll('"', "")}\``;
}

function ruleMessages(schema: Schema): string[] {
  return ((schema["x-kubernetes-validations"] as { message: string }[] | undefined) ?? []).map(({ message }) => message);
}

function allRuleMessages(schema: Schema): string[] {
  const inner = [...Object.values(properties(schema)), ...(schema["items"] ? [schema["items"] as Schema] : [])];
  return [...ruleMessages(schema), ...inner.flatMap(allRuleMessages)];
}

function rules(where: string, messages: readonly string[]): string[] {
  return messages.length === 0
    ? []
    : [`Rules${where ? ` of \`${where}\`` : ""}:`, "", ...[...new Set(messages)].map((message) => `- ${message}`), ""];
}

function pick(example: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => name in example).map((name) => [name, example[name]]));
}

function yamlExample(spec: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(spec).length === 0 ? [] : ["```yaml", stringify({ spec }, { lineWidth: 0 }).trimEnd(), "```", ""];
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

// The reference page: every field of every kind, with an example for each group of fields.
import { stringify } from "yaml";
import type { Kind } from "../kinds.ts";
import { apiVersion } from "../version.ts";
import { roleNames } from "./roles.ts";
import { type Schema, structuralSchema } from "./structural-schema.ts";

type Spec = Readonly<Record<string, unknown>>;

/** Specs of samples by kind; the examples are parts of them. */
export type Samples = Readonly<Record<string, readonly Spec[]>>;

interface Field {
  readonly path: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export function referencePage(kinds: readonly Kind[], samples: Samples, sizes: ReadonlyMap<string, number>): string {
  return [
    "# API reference",
    "",
    "Made from the schemas under `api/` by `make manifests`; changes here are lost.",
    "",
    `Group and version: \`${apiVersion}\`. All kinds are namespaced. \`kubectl explain\` shows the same in the cluster.`,
    "",
    "A user who may create a SampleDB can run images of their choice in that namespace, with the namespace's own limits and no",
    "others: give the role `sampledb-sampledb-editor` to people who may create Pods there.",
    "",
    "| kind | short name | roles | size of the CRD |",
    "|---|---|---|---|",
    ...kinds.map((each) => {
      const { kind, shortNames, singular, plural } = each;
      const names = roleNames(each).map((name) => name.slice(`sampledb-${singular}-`.length));
      return `| [${kind}](#${singular}) | \`${shortNames.join("`, `")}\` | \`sampledb-${singular}-{${names.join()}}\` | ${Math.round((sizes.get(plural) ?? 0) / 1024)} KiB |`;
    }),
    "",
    "The sizes are those of the manifests: far below what etcd stores (1.5 MiB) and what fits into the annotation of a client-side",
    "`kubectl apply` (256 KiB); `make install` applies on the server's side and needs no such annotation.",
    ...kinds.flatMap((kind) => section(kind, samples[kind.kind] ?? [])),
    "",
  ].join("\n");
}

function section(kind: Kind, examples: readonly Spec[]): string[] {
  const spec = structuralSchema(kind.spec);
  const fields = fieldsOf(spec, "");
  const simple = fields.filter(({ schema }) => !isGroup(schema));
  return [
    "",
    `## ${kind.kind}`,
    "",
    kind.description,
    "",
    ...columns(kind),
    ...rules("", [...kind.rules.map(({ message }) => message), ...ruleMessages(spec)]),
    ...(simple.length > 0 ? ["### spec", ""] : []),
    ...table(simple),
    ...yamlExamples(
      examples,
      simple.map(({ path }) => path),
    ),
    ...fields.filter(({ schema }) => isGroup(schema)).flatMap((group) => groupSection(group, examples)),
    "### status",
    "",
    "Written by the operator, from what it observed.",
    "",
    ...table(allFieldsOf(structuralSchema(kind.status), "")),
  ];
}

function groupSection({ path, schema, required }: Field, examples: readonly Spec[]): string[] {
  return [
    `### spec.${path.replace("[]", "")}`,
    "",
    `${schema["description"] ?? ""}${required ? " Required." : ""}`,
    "",
    ...table(isOfPod(schema) ? fieldsOf(schema, "") : allFieldsOf(schema, "")),
    ...rules(`spec.${path}`, isOfPod(schema) ? [] : allRuleMessages(schema)),
    ...yamlExamples(examples, [path.replace("[]", "")]),
  ];
}

/** Users know these fields from Pods, so the page does not list them again. */
function isOfPod(schema: Schema): boolean {
  return String(schema["description"]).includes("as in a Pod");
}

function columns(kind: Kind): string[] {
  return [
    "| column of `kubectl get` | |",
    "|---|---|",
    ...kind.columns.map(({ name, description, priority }) => `| ${name}${priority ? " (`-o wide`)" : ""} | ${description} |`),
    "",
  ];
}

function table(fields: readonly Field[]): string[] {
  if (fields.length === 0) return [];
  const row = ({ path, schema, required }: Field) =>
    `| \`${path}\`${required ? " (required)" : ""} | ${type(schema)} | ${defaultOf(schema)} | ${escapeCell(String(schema["description"] ?? ""))} |`;
  return ["| field | type | default | |", "|---|---|---|---|", ...fields.map(row), ""];
}

/** The fields of an object, or of the objects in a list. */
function fieldsOf(schema: Schema, prefix: string): Field[] {
  const object = (schema["items"] as Schema | undefined) ?? schema;
  const required = new Set((object["required"] as string[] | undefined) ?? []);
  return Object.entries(properties(object)).map(([name, field]) => ({
    path: `${prefix}${name}${field["type"] === "array" && isGroup(field) ? "[]" : ""}`,
    schema: field,
    required: required.has(name),
  }));
}

/** All fields, including nested ones. */
function allFieldsOf(schema: Schema, prefix: string): Field[] {
  return fieldsOf(schema, prefix).flatMap((field) => [
    field,
    ...(isGroup(field.schema) && !isOfPod(field.schema) ? allFieldsOf(field.schema, `${field.path}.`) : []),
  ]);
}

function properties(schema: Schema): Record<string, Schema> {
  return (schema["properties"] as Record<string, Schema> | undefined) ?? {};
}

/** An object with fields of its own, or a list of such objects. */
function isGroup(schema: Schema): boolean {
  return Object.keys(properties((schema["items"] as Schema | undefined) ?? schema)).length > 0;
}

function type(schema: Schema): string {
  if (Array.isArray(schema["enum"])) return (schema["enum"] as unknown[]).map((value) => `\`${value}\``).join(", ");
  if (schema["x-kubernetes-int-or-string"]) return "number or string";
  if (schema["type"] === "array") return `list of ${type(schema["items"] as Schema)}`;
  if (schema["additionalProperties"]) return `map to ${type(schema["additionalProperties"] as Schema)}`;
  const range = [schema["minimum"] ?? "", schema["maximum"] ?? ""];
  const [least, most] = range;
  if (least !== "" && most === "") return `${schema["type"]}, ${least} or more`;
  return `${schema["type"]}${range.some((bound) => bound !== "") ? `, ${range.join("–")}` : ""}`;
}

function defaultOf(schema: Schema): string {
  return schema["default"] === undefined || isGroup(schema) ? "" : `\`${JSON.stringify(schema["default"]).replaceAll('"', "")}\``;
}

function ruleMessages(schema: Schema): string[] {
  return ((schema["x-kubernetes-validations"] as { message: string }[] | undefined) ?? []).map(({ message }) => message);
}

/** Rules between fields name the fields; a rule of a single field does not, so its path is put before the message. */
function allRuleMessages(schema: Schema): string[] {
  const ofFields = allFieldsOf(schema, "").flatMap(({ path, schema: field }) => {
    const inner = (field["items"] ?? field["additionalProperties"]) as Schema | undefined;
    const own = isGroup(field) ? ruleMessages(field) : ruleMessages(field).map((message) => `\`${path}\` ${message}`);
    const ofEntries = inner ? ruleMessages(inner).map((message) => (isGroup(inner) ? message : `each of \`${path}\` ${message}`)) : [];
    return [...own, ...ofEntries];
  });
  return [...ruleMessages(schema), ...ofFields];
}

function rules(where: string, messages: readonly string[]): string[] {
  return messages.length === 0
    ? []
    : [`Rules${where ? ` of \`${where}\`` : ""}:`, "", ...[...new Set(messages)].map((message) => `- ${message}`), ""];
}

/** The named parts of the examples, without duplicates. */
function yamlExamples(examples: readonly Spec[], names: readonly string[]): string[] {
  const parts = examples.map((spec) => Object.fromEntries(names.filter((name) => name in spec).map((name) => [name, spec[name]])));
  const texts = parts.filter((part) => Object.keys(part).length > 0).map((spec) => stringify({ spec }, { lineWidth: 0 }).trimEnd());
  return [...new Set(texts)].flatMap((text) => ["```yaml", text, "```", ""]);
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

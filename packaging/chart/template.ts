// Makes a Helm template of an object: fields that a table names are replaced by Go templates, everything else stays to the letter.
import { stringify } from "yaml";

/** What stands in a template in place of a value. */
export type Substitute =
  /** `{{ go }}`, alone or in the middle of a text. */
  | { readonly form: "value"; readonly go: string }
  /** A whole field as YAML; left out where the value is empty. It may be new. */
  | { readonly form: "field"; readonly go: string }
  /** Lines in place of an item, or after the last one; INDENTATION is how deep they are. */
  | { readonly form: "lines"; readonly lines: readonly string[] };

export const value = (go: string): Substitute => ({ form: "value", go });
export const field = (go: string): Substitute => ({ form: "field", go });
export const lines = (...text: string[]): Substitute => ({ form: "lines", lines: text });

/**
 * By path: `spec.replicas`, `containers[operator]` is the item of that name, `args[--flag]` the argument of that name, `args[+]` comes after the
 * last item of a list or a map.
 */
export type Substitutes = Readonly<Record<string, Substitute>>;

/** A text and what it becomes, in all strings of an object: the namespace. */
export interface Everywhere {
  readonly text: string;
  readonly go: string;
}

type Tree = { [key: string]: Tree | string | number | boolean | null } | Tree[];

/** Throws when a path leads nowhere, so that a change of config/ can't lose a value of the chart unnoticed. */
export function templateOf(object: object, substitutes: Substitutes, everywhere: Everywhere): string {
  const tree = structuredClone(object) as Tree;
  const placed = Object.entries(substitutes).map(([path, substitute], index) => {
    place(tree, path, substitute, mark(index));
    return substitute;
  });
  const text = stringify(tree, { lineWidth: 0, aliasDuplicateObjects: false }).replaceAll("{{", '{{ "{{" }}');
  const templated = text
    .trimEnd()
    .split("\n")
    .flatMap((line) => filled(line, placed));
  return templated.map((line) => namespaced(line, everywhere)).join("\n");
}

const mark = (index: number) => `__SUBSTITUTE_${index}__`;

function place(tree: Tree, path: string, { form }: Substitute, marker: string): void {
  const steps = path.match(/[^.[\]]+|\[[^\]]+\]/g) ?? [];
  const last = steps.pop() ?? "";
  let node = tree;
  for (const step of steps) node = (node as Record<string, Tree>)[key(node, step, path)] as Tree;
  const end = Array.isArray(node) ? String(node.length) : marker; // of a list the next index; of a map a name that its line loses
  const name = last === "[+]" ? end : form === "field" ? last : key(node, last, path);
  (node as Record<string, unknown>)[name] = marker;
}

function key(node: Tree, step: string, path: string): string {
  const [, name] = /^\[(.+)\]$/.exec(step) ?? [];
  const found =
    name === undefined
      ? Object.keys(node).find((candidate) => candidate === step)
      : (node as unknown[]).findIndex(
          (item) => (typeof item === "string" ? item.split("=")[0] : (item as Tree & { name: string }).name) === name,
        );
  if (found === undefined || found === -1) throw new Error(`the chart replaces ${path}, and there is no ${step}`);
  return String(found);
}

function filled(line: string, placed: readonly Substitute[]): string[] {
  const [, index] = /__SUBSTITUTE_(\d+)__/.exec(line) ?? [];
  const substitute = index === undefined ? undefined : placed[Number(index)];
  if (!substitute) return [line];
  const indentation = " ".repeat(line.search(/\S/));
  switch (substitute.form) {
    case "value":
      return [line.replace(mark(Number(index)), `{{ ${substitute.go} }}`)];
    case "lines":
      return substitute.lines.map((text) => `${indentation}${text.replace("INDENTATION", String(indentation.length))}`);
    case "field": {
      const name = line.trim().split(":")[0];
      const content = `${indentation}  {{- toYaml . | nindent ${indentation.length + 2} }}`;
      return [`${indentation}{{- with ${substitute.go} }}`, `${indentation}${name}:`, content, `${indentation}{{- end }}`];
    }
  }
}

/** Quoted where it stands alone: a name of digits would become a number. */
function namespaced(line: string, { text, go }: Everywhere): string {
  return line.replace(new RegExp(`: ${text}$`), `: {{ ${go} | quote }}`).replaceAll(text, `{{ ${go} }}`);
}

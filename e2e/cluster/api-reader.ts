// Reads of the API in this process. Tests wait by asking again and again, and a kubectl for each question takes a tenth of a second of CPU:
// two suites that wait would fill two cores.
import { readFileSync } from "node:fs";
import { type RequestOptions, request } from "node:https";
import { text } from "node:stream/consumers";
import { parse } from "yaml";

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every kind
type KubernetesObject = Record<string, any>;

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

interface Question {
  readonly kinds: readonly string[];
  readonly name: string | undefined;
  /** Undefined for all of them. */
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
  readonly keepsManagedFields: boolean;
}

/** As kubectl asks for it: all names of all kinds come with two requests. */
const discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const deadlineMilliseconds = 20_000;

/** Each question has a connection of its own, as each kubectl has: one that is kept would be found dead after an outage. */
export class ApiReader {
  readonly #kubeconfig: string;
  #access: { readonly text: string; readonly server: string; readonly identity: RequestOptions } | undefined;
  #kinds = new Map<string, Kind>();

  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
  }

  /**
   * What `kubectl get --output=json` with these arguments would print; undefined when there is none of that name. `unknown` for arguments
   * and kinds that are not known here: kubectl knows them, or knows what to say.
   */
  async get(args: readonly string[], namespace: string | undefined): Promise<KubernetesObject | undefined | "unknown"> {
    const question = questionOf(args, namespace);
    if (!question) return "unknown";
    const kinds: Kind[] = [];
    for (const name of question.kinds) {
      const kind = await this.#kindOf(name);
      if (!kind) return "unknown";
      kinds.push(kind);
    }
    const [first] = kinds;
    if (question.name !== undefined) return first && kinds.length === 1 ? await this.#one(first, question, question.name) : "unknown";
    const items: KubernetesObject[] = [];
    for (const kind of kinds) items.push(...(await this.#all(kind, question)));
    return { apiVersion: "v1", kind: "List", items };
  }

  async #one(kind: Kind, question: Question, name: string): Promise<KubernetesObject | undefined> {
    const answer = await this.#ask(`${folder(kind, question.namespace ?? "default")}/${encodeURIComponent(name)}`);
    if (answer.status === 404) return undefined;
    return shown(objectOf(answer), question);
  }

  async #all(kind: Kind, question: Question): Promise<KubernetesObject[]> {
    const { items = [] } = objectOf(await this.#ask(`${folder(kind, question.namespace)}?${question.query}`));
    return items.map((item: KubernetesObject) => shown({ apiVersion: kind.apiVersion, kind: kind.kind, ...item }, question));
  }

  /** A kind may have come since it was last asked for. */
  async #kindOf(name: string): Promise<Kind | undefined> {
    if (!this.#kinds.has(name)) this.#kinds = kindsOf([await this.#discover("/api"), await this.#discover("/apis")]);
    return this.#kinds.get(name);
  }

  async #discover(path: string): Promise<KubernetesObject> {
    return objectOf(await this.#ask(path, discovery));
  }

  async #ask(path: string, accept = "application/json"): Promise<Answer> {
    const { server, identity } = this.#readAccess();
    const options = { ...identity, agent: false, headers: { accept }, signal: AbortSignal.timeout(deadlineMilliseconds) };
    return await new Promise((resolve, reject) => {
      request(`${server}${path}`, options, (response) => {
        text(response).then((body) => resolve({ path, status: response.statusCode ?? 0, body }), reject);
      })
        .on("error", (error) => reject(new Error(`GET ${path}: ${error.message}`, { cause: error })))
        .end();
    });
  }

  /** A cluster that is made anew has the same file with another authority in it. */
  #readAccess(): { readonly server: string; readonly identity: RequestOptions } {
    const content = readFileSync(this.#kubeconfig, "utf8");
    if (this.#access?.text === content) return this.#access;
    const { clusters, users } = parse(content) as KubernetesObject;
    const decoded = (value: string) => Buffer.from(value, "base64");
    const identity = {
      ca: decoded(clusters[0].cluster["certificate-authority-data"]),
      cert: decoded(users[0].user["client-certificate-data"]),
      key: decoded(users[0].user["client-key-data"]),
    };
    this.#kinds = new Map();
    this.#access = { text: content, server: clusters[0].cluster.server, identity };
    return this.#access;
  }
}

interface Answer {
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

function objectOf({ path, status, body }: Answer): KubernetesObject {
  if (status === 200) return JSON.parse(body) as KubernetesObject;
  throw new Error(`GET ${path}: ${status} ${body.trim().slice(0, 500)}`);
}

function folder({ apiVersion, plural, isNamespaced }: Kind, namespace: string | undefined): string {
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${group}/${isNamespaced && namespace !== undefined ? `namespaces/${namespace}/` : ""}${plural}`;
}

/** Without the managed fields, as kubectl shows it. */
function shown(object: KubernetesObject, { keepsManagedFields }: Question): KubernetesObject {
  if (!keepsManagedFields) delete object["metadata"]?.managedFields;
  return object;
}

/** Undefined where there is anything in them that is not known here. */
export function questionOf(args: readonly string[], usual: string | undefined): Question | undefined {
  const [kinds = "", name, ...more] = args.filter((arg) => !arg.startsWith("-"));
  let namespace: string | undefined = usual ?? "default";
  let keepsManagedFields = false;
  const query = new URLSearchParams();
  for (const arg of args.filter((arg) => arg.startsWith("-"))) {
    const [, option = "", value = ""] = /^(--[a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    if (option === "--selector") query.set("labelSelector", value);
    else if (option === "--field-selector") query.set("fieldSelector", value);
    else if (option === "--namespace" && value !== "") namespace = value;
    else if (arg === "--all-namespaces") namespace = undefined;
    else if (arg === "--show-managed-fields") keepsManagedFields = true;
    else return undefined;
  }
  if (kinds === "" || name === "" || kinds.includes("/") || more.length > 0 || (name !== undefined && query.size > 0)) return undefined;
  return { kinds: kinds.split(","), name, namespace, query, keepsManagedFields };
}

/** By every name that kubectl takes: plural, singular and short, with the group and without; the first group that has it counts. */
export function kindsOf(groups: readonly KubernetesObject[]): Map<string, Kind> {
  const found = new Map<string, Kind>();
  for (const group of groups.flatMap(({ items = [] }) => items)) {
    for (const { version, resources = [] } of group.versions ?? []) {
      const apiVersion = group.metadata?.name ? `${group.metadata.name}/${version}` : version;
      for (const { resource: plural, responseKind, scope, singularResource, shortNames = [] } of resources) {
        const kind = { apiVersion, kind: responseKind.kind, plural, isNamespaced: scope === "Namespaced" };
        for (const name of [plural, singularResource, ...shortNames].filter(Boolean)) {
          for (const full of [name, `${name}.${group.metadata?.name}`]) if (!found.has(full)) found.set(full, kind);
        }
      }
    }
  }
  return found;
}

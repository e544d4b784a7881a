// What a request to an API server asks for, as its path and query say it, and which requests a matcher means.

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly verb: Verb;
  /** The plural, such as `configmaps`; undefined for discovery, /version and the like, as is all that follows from it. */
  readonly resource: string | undefined;
  /** Empty for the core group. */
  readonly group: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** A watch that begins with everything there is, in place of a list. */
  readonly watchList: boolean;
}

/** Requests that have all of these; an empty one means every request. Or those that the function says yes to: it is asked once for each. */
export type Matcher = Partial<Omit<ApiRequest, "query">> | ((request: ApiRequest) => boolean);

export function matches(matcher: Matcher, request: ApiRequest): boolean {
  if (typeof matcher === "function") return matcher(request);
  return (Object.keys(matcher) as (keyof typeof matcher)[]).every((field) => matcher[field] === request[field]);
}

export function parseRequest(method: string, url: string): ApiRequest {
  const { pathname: path, searchParams: query } = new URL(url, "https://localhost");
  const target = parsePath(path);
  const watching = method === "GET" && ["true", "1"].includes(query.get("watch") ?? "");
  return {
    method,
    path,
    query,
    ...target,
    verb: watching ? "watch" : verbOf(method, target),
    watchList: watching && query.get("sendInitialEvents") === "true",
  };
}

type Target = Pick<ApiRequest, "group" | "resource" | "namespace" | "name" | "subresource">;

function parsePath(path: string): Target {
  const segments = path.split("/").filter(Boolean).map(decodeURIComponent);
  const prefix = segments[0] === "api" ? 2 : 3; // api/v1, apis/apps/v1
  const none = { group: undefined, resource: undefined, namespace: undefined, name: undefined, subresource: undefined };
  if (!["api", "apis"].includes(segments[0] ?? "") || segments.length <= prefix) return none;
  const group = segments[0] === "api" ? "" : segments[1];
  const rest = segments.slice(prefix);
  // A Namespace has subresources of its own; everything else below one is in it.
  const isInNamespace = rest[0] === "namespaces" && rest.length > 2 && !["status", "finalize"].includes(rest[2] ?? "");
  const [resource, name, subresource] = isInNamespace ? rest.slice(2) : rest;
  return { group, resource, namespace: isInNamespace ? rest[1] : undefined, name, subresource };
}

function verbOf(method: string, { resource, name }: Target): Verb {
  const isCollection = resource !== undefined && name === undefined;
  switch (method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return isCollection ? "deletecollection" : "delete";
    default:
      return isCollection ? "list" : "get";
  }
}

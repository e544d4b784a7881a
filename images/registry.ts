// Asks a registry for the digest of an image. Without a login: a release names images that people can pull.
import { createHash } from "node:crypto";
import { Refusal } from "../tools/progress.ts";
import { isOnLoopback } from "./names.ts";

/** An image of one platform, or an index of several, as Docker or OCI writes it. */
const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

const patienceMs = 30_000;

/** Of `registry.example.com/team/name:tag`. Computed from what the registry delivers, and not what it says about it. */
export async function imageDigest(reference: string, pushedBy = "make docker-push"): Promise<string> {
  const { host, name, tag } = partsOf(reference);
  const url = `${isOnLoopback(host) ? "http" : "https"}://${host}/v2/${name}/manifests/${tag}`;
  const response = await answer(url, host);
  if (response.status === 401 || response.status === 403)
    throw new Refusal(`registry ${host} does not let everybody read ${reference}: digests are read without a login`);
  if (response.status === 404)
    throw new Refusal(`registry ${host} has no ${reference}: run ${pushedBy} with the same IMAGE_REGISTRY first`);
  if (!response.ok) throw new Refusal(`registry ${host} answers ${response.status} when asked for ${reference}`);
  const manifest = Buffer.from(await response.arrayBuffer());
  return `sha256:${createHash("sha256").update(manifest).digest("hex")}`;
}

function partsOf(reference: string): { readonly host: string; readonly name: string; readonly tag: string } {
  const { host, name, tag } = /^(?<host>[^/]+)\/(?<name>[^:@]+):(?<tag>[^:@/]+)$/.exec(reference)?.groups ?? {};
  if (!host || !name || !tag) throw new Refusal(`${reference} is not the whole name of an image: registry/name:tag`);
  return { host, name, tag };
}

async function answer(url: string, host: string): Promise<Response> {
  try {
    const first = await get(url);
    const challenge = first.status === 401 ? tokenAddress(first.headers.get("www-authenticate") ?? "") : undefined;
    if (challenge === undefined) return first;
    const { token, access_token: accessToken } = (await (await get(challenge)).json()) as { token?: string; access_token?: string };
    return await get(url, { authorization: `Bearer ${token ?? accessToken}` });
  } catch (error) {
    throw new Refusal(`registry ${host} does not answer: is IMAGE_REGISTRY right?`, { cause: error });
  }
}

async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return await fetch(url, { headers: { accept: manifestTypes, ...headers }, signal: AbortSignal.timeout(patienceMs) });
}

/** Where a registry gives out tokens, also to those who have no account: `Bearer realm="…",service="…",scope="…"`. */
function tokenAddress(challenge: string): string | undefined {
  const parameters = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]));
  const realm = parameters.get("realm");
  if (!/^bearer /i.test(challenge) || !realm || !URL.canParse(realm)) return undefined;
  const address = new URL(realm);
  for (const name of ["service", "scope"]) {
    const value = parameters.get(name);
    if (value !== undefined) address.searchParams.set(name, value);
  }
  return address.href;
}

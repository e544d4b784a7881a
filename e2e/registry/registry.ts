// A real container registry on loopback, for the length of a test.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { goProgram } from "../../tools/go-program.ts";

const manifestType = "application/vnd.oci.image.manifest.v1+json";

export function registryProgram(): Promise<string> {
  return goProgram({
    name: "registry",
    title: "the registry of tests",
    source: join(import.meta.dirname, "program"),
    module: "github.com/google/go-containerregistry",
    package: ".",
  });
}

export class Registry {
  /** Host and port. */
  readonly address: string;
  readonly #process: ChildProcess;

  private constructor(address: string, process: ChildProcess) {
    this.address = address;
    this.#process = process;
  }

  static async start(): Promise<Registry> {
    const child = spawn(await registryProgram(), { stdio: ["pipe", "pipe", "inherit"] });
    const [address] = (await once(createInterface(child.stdout), "line")) as [string];
    return new Registry(address, child);
  }

  /** An image without layers, which differs by its name. Resolves to its digest. */
  async push(name: string, tag: string): Promise<string> {
    const config = await this.#blob(
      name,
      JSON.stringify({ architecture: "amd64", os: "linux", config: { Labels: { image: `${name}:${tag}` } } }),
    );
    const manifest = JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config, layers: [] });
    await this.#put(`/v2/${name}/manifests/${tag}`, manifest, manifestType);
    return digestOf(manifest);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin?.end();
    await ended;
  }

  async #blob(name: string, content: string): Promise<object> {
    const digest = digestOf(content);
    const { headers } = await this.#send("POST", `/v2/${name}/blobs/uploads/`);
    await this.#put(`${headers.get("location")}?digest=${digest}`, content, "application/octet-stream");
    return { mediaType: "application/vnd.oci.image.config.v1+json", digest, size: Buffer.byteLength(content) };
  }

  async #put(path: string, body: string, type: string): Promise<void> {
    await this.#send("PUT", path, { body, headers: { "content-type": type } });
  }

  async #send(method: string, path: string, more: RequestInit = {}): Promise<Response> {
    const response = await fetch(new URL(path, `http://${this.address}`), { method, ...more });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}

function digestOf(content: string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

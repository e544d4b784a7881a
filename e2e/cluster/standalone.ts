// A control plane alone, for tests of controllers: etcd, API server and controller-manager on loopback, a scheduler if asked for, without nodes
// and without root. Several can run at once. Everything goes when it is stopped; when this process is killed, its processes go with it.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLog, run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { freePort } from "../../tools/free-port.ts";
import {
  apiServerArguments,
  type ControlPlaneSettings,
  clients,
  controllerManagerArguments,
  controlPlaneIdentities,
  etcdArguments,
  etcdSocket,
  schedulerArguments,
} from "./control-plane.ts";
import { kubeconfig } from "./kubeconfig.ts";
import type { KubernetesObject } from "./kubectl.ts";
import { writeCertificates } from "./pki.ts";
import { programsDirectory } from "./programs.ts";

const parts = {
  etcd: etcdArguments,
  "kube-apiserver": (settings: ControlPlaneSettings) => [...apiServerArguments(settings), "--bind-address=127.0.0.1"],
  "kube-controller-manager": controllerManagerArguments,
  "kube-scheduler": schedulerArguments,
} satisfies Record<string, (settings: ControlPlaneSettings) => string[]>;

type StandalonePart = keyof typeof parts;

/** What everybody may do with a control plane, also with one that is another's to stop. */
export interface ControlPlane {
  readonly kubeconfig: string;
  readonly url: string;
  readonly directory: string;
  kubectl(...args: string[]): Promise<string>;
  request(method: string, path: string, body?: object): Promise<{ status: number; body: KubernetesObject } | undefined>;
}

interface StandaloneOptions {
  /** More arguments for its parts; where one is there already, the last counts. */
  readonly more?: Partial<Record<StandalonePart, readonly string[]>>;
  /** For nodes that somebody else brings: without one no Pod is given a node. */
  readonly scheduler?: boolean;
}

const serviceRange = "10.96.0.0/16";
const apiServiceAddress = "10.96.0.1";

export class StandaloneControlPlane implements ControlPlane {
  readonly kubeconfig: string;
  readonly url: string;
  readonly directory: string;
  readonly #settings: ControlPlaneSettings;
  readonly #options: StandaloneOptions;
  #agent: Agent | undefined;
  readonly #children = new Map<StandalonePart, ChildProcess>();

  private constructor(directory: string, settings: ControlPlaneSettings, options: StandaloneOptions) {
    this.directory = directory;
    this.#settings = settings;
    this.#options = options;
    this.kubeconfig = join(directory, "admin.kubeconfig");
    this.url = `https://127.0.0.1:${settings.port}`;
  }

  static async start(options: StandaloneOptions = {}): Promise<StandaloneControlPlane> {
    const directory = mkdtempSync(join(tmpdir(), "sampledb-control-plane-"));
    const settings = settingsOf(directory, await freePort());
    const plane = new StandaloneControlPlane(directory, settings, options);
    try {
      await writeCertificates(settings.pki, controlPlaneIdentities("127.0.0.1", apiServiceAddress));
      for (const name of Object.keys(clients)) {
        writeFileSync(join(directory, `${name}.kubeconfig`), kubeconfig(plane.url, "standalone", settings.pki, name), { mode: 0o600 });
      }
      await plane.startPart("etcd");
      // An API server that comes too early waits for a whole second before it tries again.
      await eventually("etcd listens", 30_000, () => existsSync(etcdSocket(directory)));
      await plane.startPart("kube-apiserver");
      // The controller-manager gives up when it is not let in within ten seconds, which a busy machine may need.
      const binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:kube-controller-manager";
      await plane.running("its controller-manager is let in", async () => (await plane.request("GET", binding))?.status === 200);
      await plane.startPart("kube-controller-manager");
      await plane.ready();
      if (options.scheduler) await plane.startPart("kube-scheduler");
      return plane;
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  /** One that another process has started and stops. */
  static attach({ directory, url }: Pick<ControlPlane, "directory" | "url">): ControlPlane {
    return new StandaloneControlPlane(directory, settingsOf(directory, Number(new URL(url).port)), {});
  }

  /** Starts a part that is not running, with what it had stored before. */
  async startPart(part: StandalonePart): Promise<void> {
    const log = openLog(this.logFile(part));
    const more = this.#options.more?.[part] ?? [];
    // A test runner that is killed can't clean up: the kernel ends its children then.
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", await program(part), ...parts[part](this.#settings), ...more], {
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    this.#children.set(part, child);
  }

  async killPart(part: StandalonePart): Promise<void> {
    const child = this.#children.get(part);
    this.#children.delete(part);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  pausePart(part: StandalonePart): void {
    this.#children.get(part)?.kill("SIGSTOP");
  }

  resumePart(part: StandalonePart): void {
    this.#children.get(part)?.kill("SIGCONT");
  }

  async kubectl(...args: string[]): Promise<string> {
    return run(await program("kubectl"), args, { env: { KUBECONFIG: this.kubeconfig } });
  }

  /** Resolves when a Pod could be made: the API server answers and the controllers have done their first round. */
  async ready(): Promise<void> {
    await this.running("a Pod can be made", async () => {
      return (await this.request("GET", "/api/v1/namespaces/default/serviceaccounts/default"))?.status === 200;
    });
  }

  /** Waits for a condition for as long as all parts run; fails at once when one has ended. */
  private async running(what: string, condition: () => Promise<boolean>): Promise<void> {
    await eventually(`the control plane in ${this.directory}: ${what} (its logs are there)`, 60_000, async () => {
      for (const [part, child] of this.#children) {
        if (child.exitCode !== null)
          throw new Error(`${part} exited with ${child.exitCode}: ${readFileSync(this.logFile(part), "utf8").trim().split("\n").at(-1)}`);
      }
      return await condition();
    });
  }

  /**
   * One request of the administrator's, without kubectl: starting a program for each would take longer than the answer.
   * Resolves to the status and the parsed body whatever they are, and to undefined when nobody answers to the end.
   */
  async request(method: string, path: string, body?: object): Promise<{ status: number; body: KubernetesObject } | undefined> {
    const pki = (file: string) => readFileSync(join(this.#settings.pki, file));
    this.#agent ??= new Agent({ keepAlive: true, maxSockets: 8, ca: pki("ca.crt"), cert: pki("admin.crt"), key: pki("admin.key") });
    const headers = {
      accept: "application/json",
      "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
    };
    return await new Promise((resolve) => {
      const call = request(`${this.url}${path}`, { method, headers, agent: this.#agent, timeout: 5000 }, (answer) => {
        const told = (text: string[]) => resolve({ status: answer.statusCode ?? 0, body: bodyOf(text.join("")) });
        answer
          .setEncoding("utf8")
          .toArray()
          .then(told, () => resolve(undefined));
      });
      call.on("timeout", () => call.destroy()).on("error", () => resolve(undefined));
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async stop(): Promise<void> {
    this.#agent?.destroy();
    for (const part of Object.keys(parts).reverse() as StandalonePart[]) await this.killPart(part);
    rmSync(this.directory, { recursive: true, force: true });
  }

  logFile(part: StandalonePart): string {
    return join(this.directory, "log", `${part}.log`);
  }
}

function settingsOf(directory: string, port: number): ControlPlaneSettings {
  return { pki: join(directory, "pki"), kubeconfigs: directory, dataDirectory: directory, address: "127.0.0.1", port, serviceRange };
}

/** Where nothing is served, as for a kind in the first moments of its definition, the API server answers in plain text. */
function bodyOf(text: string): KubernetesObject {
  try {
    return JSON.parse(text || "{}") as KubernetesObject;
  } catch {
    return { message: text.trim() };
  }
}

/** KUBEBUILDER_ASSETS goes first, as users of kubebuilder know it; what it does not have comes from our own build. */
async function program(name: string): Promise<string> {
  const asset = join(process.env["KUBEBUILDER_ASSETS"] ?? "", name);
  return process.env["KUBEBUILDER_ASSETS"] && existsSync(asset) ? asset : join(await programsDirectory(), name);
}

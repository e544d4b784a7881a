// What a suite does with a SampleDB: makes it, waits for it, and looks into its instances over their local sockets.
import type * as z from "zod";
import { labelNames } from "../../api/labels.ts";
import type { sampleDBSpec } from "../../api/sampledb.ts";
import type { SampleDBStatus } from "../../api/sampledb-status.ts";
import { apiVersion } from "../../api/version.ts";
import { instanceComponent, selectorOf } from "../../controllers/desired/identity.ts";
import type { SampleDB } from "../../controllers/kinds/sampledb-io.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import type { Kubectl, KubernetesObject } from "../cluster/kubectl.ts";

type Spec = z.input<typeof sampleDBSpec>;
type Manifest = {
  readonly apiVersion: string;
  readonly kind: "SampleDB";
  readonly metadata: { readonly name: string };
  readonly spec: Spec;
};

/** PostgreSQL 17 on a small volume, unless the spec says otherwise. What is left out gets the API's own default. */
export function sampleDB({ name, ...spec }: { readonly name: string } & Partial<Spec>): Manifest {
  return { apiVersion, kind: "SampleDB", metadata: { name }, spec: { postgresVersion: 17, storage: { size: "1Gi" }, ...spec } };
}

interface SqlOptions {
  /** As postgres; as the database's owner otherwise. */
  readonly superuser?: boolean;
  /** The primary's, when empty. */
  readonly pod?: string;
  readonly databaseName?: string;
}

const container = "postgres";

export class Database {
  readonly name: string;
  readonly #kubectl: Kubectl;

  constructor(kubectl: Kubectl, name: string) {
    this.#kubectl = kubectl;
    this.name = name;
  }

  /** Applies it without waiting for anything. */
  static async apply(kubectl: Kubectl, manifest: Manifest): Promise<Database> {
    await kubectl.apply(JSON.stringify(manifest));
    return new Database(kubectl, manifest.metadata.name);
  }

  /** With their data and their Backups, which is what a namespace's deletion is refused for. */
  static async deleteAll(namespace: Kubectl): Promise<void> {
    const found = await namespace.list("sampledbs.sampledb.io").catch(() => []); // the kind may not be installed
    for (const kind of ["restores.sampledb.io", "backups.sampledb.io"]) {
      const left = await namespace.list(kind).catch(() => []);
      // The last good one can't be deleted together with its artefact.
      const guarded = left.filter((object) => object["spec"].deletionPolicy === "Delete").map((object) => `${kind}/${nameOf(object)}`);
      for (const name of guarded)
        await namespace.run("patch", name, "--type=merge", `--patch={"spec":{"deletionPolicy":"Retain"}}`).catch(() => "");
      if (left.length > 0) await namespace.run("delete", kind, "--all", "--timeout=180s", "--request-timeout=0");
    }
    const databases = found.map((object) => new Database(namespace, nameOf(object)));
    for (const database of databases) await database.change({ deletionPolicy: "Delete", deletionProtection: false, paused: false });
    if (databases.length > 0) await namespace.run("delete", "sampledbs.sampledb.io", "--all", "--timeout=180s", "--request-timeout=0");
  }

  async get(): Promise<SampleDB> {
    const found = await this.#kubectl.get("sampledbs.sampledb.io", this.name);
    if (!found) throw new Error(`there is no SampleDB ${this.name}`);
    return found as unknown as SampleDB;
  }

  /** Merges into the spec; `null` takes a field away. */
  async change(spec: object): Promise<void> {
    await this.#kubectl.run("patch", "sampledbs.sampledb.io", this.name, "--type=merge", `--patch=${JSON.stringify({ spec })}`);
  }

  /** Has another instance lead, on a person's word. */
  async switchOver(pod: string): Promise<void> {
    await this.#kubectl.run("annotate", "sampledbs.sampledb.io", this.name, `sampledb.io/switchover=${pod}`, "--overwrite");
    await eventually(`${pod} is primary`, 120_000, async () => (await this.get()).status?.primaryPodName === pod);
  }

  /** Resolves once it is Ready as its spec is now, with every replica that the spec asks for. */
  async waitReady(deadlineMs = 180_000): Promise<SampleDBStatus> {
    return await eventuallySucceeds(`SampleDB ${this.name} is Ready`, deadlineMs, async () => {
      const database = await this.get();
      const problem = whyNotReady(database);
      if (problem !== undefined || !database.status) throw new Error(problem ?? "it has no status");
      return database.status;
    });
  }

  /** Resolves once this stands in the way, as it is told. */
  async tells({ reason, message }: { readonly reason: string; readonly message: string }): Promise<void> {
    await eventuallySucceeds(`SampleDB ${this.name} says ${reason}`, 180_000, async () => {
      const { blockers = [] } = (await this.get()).status ?? {};
      if (!blockers.some((told) => told.reason === reason && told.message === message)) throw new Error(JSON.stringify(blockers));
    });
  }

  /** Resolves to the message once the condition has this reason. */
  async says(type: string, reason: string, deadlineMs = 240_000): Promise<string> {
    return await eventuallySucceeds(`${type} of ${this.name} says ${reason}`, deadlineMs, async () => {
      const told = (await this.get()).status?.conditions?.find((condition) => condition.type === type);
      if (told?.reason !== reason) throw new Error(JSON.stringify(told));
      return told.message;
    });
  }

  /** Resolves once the leader knows where each instance is: only then can it serve on while the API server is away. */
  async waitFailsafe(): Promise<void> {
    const lock = async () => (await this.#kubectl.get("configmap", `${this.name}-leader`))?.["metadata"].annotations ?? {};
    const written = await eventually(`the leader of ${this.name} has written where all instances are`, 60_000, async () => {
      const { failsafe = "{}", renewTime } = await lock();
      const known: Record<string, string> = JSON.parse(failsafe);
      const isRight = (await this.pods()).every((pod) => known[nameOf(pod)]?.includes(`//${pod["status"].podIP}:`));
      return isRight ? (renewTime as string) : undefined;
    });
    // It goes by what it has read, which in the loop of the writing was still the last one.
    await eventually("and has read it", 60_000, async () => (await lock()).renewTime !== written);
  }

  /** Who has every acknowledged commit, as Patroni keeps it; some loops after a change of primary it is all replicas again. */
  async heirs(): Promise<string[]> {
    return (await this.#succession()).heirs;
  }

  /** Of whom they are the heirs is the last primary for a while. */
  async #succession(): Promise<{ readonly leader: string | undefined; readonly heirs: string[] }> {
    const state = await this.#kubectl.get("configmap", `${this.name}-sync`);
    const { leader, sync_standby: names = "" } = state?.["metadata"].annotations ?? {};
    return { leader, heirs: (names as string).split(",").filter(Boolean) };
  }

  /**
   * Resolves once every replica can take over from the primary of now. For some seconds after a promotion those that can are the last
   * primary's, or nobody: where the new one is lost then, nobody leads until it is back, and nothing is lost.
   */
  async waitHeirs(): Promise<void> {
    await eventually(`every replica of ${this.name} can take over`, 60_000, async () => {
      const { leader, heirs } = await this.#succession();
      const replicas = (await this.instances()).filter((name) => name !== leader);
      return leader === (await this.primary()) && heirs.sort().join() === replicas.sort().join();
    });
  }

  /** Its Pods, by name. */
  async pods(): Promise<KubernetesObject[]> {
    const selector = selectorOf({ [labelNames.component]: instanceComponent, [labelNames.database]: this.name });
    const pods = await this.#kubectl.list("pods", `--selector=${selector}`);
    return pods.sort((one, other) => nameOf(one).localeCompare(nameOf(other), "en", { numeric: true }));
  }

  async instances(): Promise<string[]> {
    return (await this.pods()).map(nameOf);
  }

  /** Whom the read-write Service leads to; Patroni's own label stays on a Pod that is lost. Fails during an election: ask again. */
  async primary(): Promise<string> {
    const service = `${this.name}-rw`;
    const slices = await this.#kubectl.list("endpointslices", `--selector=kubernetes.io/service-name=${service}`);
    const names = slices.flatMap((slice) => (slice["endpoints"] ?? []).map(({ targetRef }: KubernetesObject) => targetRef.name as string));
    const [name] = names;
    if (name === undefined || names.length > 1) throw new Error(`${service} leads to ${names.join(" and ") || "no Pod"}`);
    return name;
  }

  /** One that could be primary, and is not. */
  async someReplica(): Promise<string> {
    const primary = await this.primary();
    return (await this.instances()).find((name) => name !== primary) ?? "";
  }

  async nodeOf(pod: string): Promise<string> {
    const found = await this.#kubectl.get("pod", pod);
    const node = found?.["spec"].nodeName as string | undefined;
    if (node === undefined) throw new Error(`Pod ${pod} is on no node`);
    return node;
  }

  /** The primary's node, which is made another one than this, where a ledger writes: it is to be cut off or drained. */
  async primaryNode(otherThan: string): Promise<string> {
    const node = await this.nodeOf(await this.primary());
    if (node !== otherThan) return node;
    const pod = (await this.pods()).find(({ spec }) => spec.nodeName !== otherThan);
    await this.switchOver(nameOf(pod ?? {}));
    await this.waitReady();
    await this.waitHeirs();
    return await this.nodeOf(await this.primary());
  }

  /** What psql prints: a line for each row, columns parted by |. Fails with the server's words at the first error. */
  async sql(statement: string, { superuser = false, pod, databaseName }: SqlOptions = {}): Promise<string> {
    const { bootstrap } = (await this.get()).spec;
    const asOwner = superuser ? [] : [`--command=SET SESSION AUTHORIZATION "${bootstrap.ownerName}"`];
    const command = psql(databaseName ?? bootstrap.databaseName, ...asOwner, `--command=${statement}`);
    return (await this.#exec(pod ?? (await this.primary()), command)).trimEnd();
  }

  /** What a new connection of the application's user through the read-write Service answers, with a password as Secrets have it. */
  async login(password: string): Promise<string> {
    const { bootstrap } = (await this.get()).spec;
    const command = `psql --host=${this.name}-rw --username=${bootstrap.ownerName} --dbname=${bootstrap.databaseName} --no-password`;
    const [pod = ""] = await this.instances();
    return await this.shell(pod, `PGPASSWORD='${atob(password)}' ${command} --tuples-only --no-align --command='SELECT current_user'`);
  }

  /** In the container of the server, as its user. */
  async shell(pod: string, script: string): Promise<string> {
    return (await this.#exec(pod, ["sh", "-c", script])).trim();
  }

  /** The Pods that take writes. One at most; one that can't be reached through the API is not among them. */
  async writable(): Promise<string[]> {
    const names = await this.instances();
    const command = psql("postgres", "--command=SELECT pg_is_in_recovery()");
    const answers = await Promise.all(names.map((name) => this.#exec(name, command).catch(() => undefined)));
    return names.filter((_, index) => answers[index]?.trim() === "f");
  }

  async #exec(pod: string, command: readonly string[]): Promise<string> {
    return await this.#kubectl.run("exec", pod, `--container=${container}`, "--", ...command);
  }
}

/** As the superuser over the local socket, without anybody's psqlrc. */
export function psql(databaseName: string, ...options: readonly string[]): string[] {
  const plain = ["--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--set=ON_ERROR_STOP=1"];
  return ["psql", "--username=postgres", `--dbname=${databaseName}`, ...plain, ...options];
}

/** Undefined when it is Ready, and what is said of the spec is said of the one of now. */
export function whyNotReady({ metadata, spec, status }: SampleDB): string | undefined {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (!status || !ready) return "nothing is said of it yet";
  if (status.observedGeneration !== metadata.generation || ready.observedGeneration !== metadata.generation) {
    return `generation ${metadata.generation} was not observed yet`;
  }
  if (ready.status !== "True") return `${ready.reason}: ${ready.message}`;
  const { readyReplicas = 0 } = status;
  return readyReplicas === spec.replicas ? undefined : `${readyReplicas} of ${spec.replicas} replicas are ready`;
}

function nameOf(object: KubernetesObject): string {
  return object["metadata"].name as string;
}

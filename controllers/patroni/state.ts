// Patroni's four objects of one database: its settings, the leader lock, Patroni's order, and the members that commits wait for.
// Patroni stores all of it in annotations of ConfigMaps. No other file knows the names of these annotations.
//
// Guarantee: every write of Patroni's annotations carries the resourceVersion of the object that was read, so a cache that is behind
// overwrites nothing.
// A superuser of the database can write these annotations in Patroni's place: any of them may be missing or wrong.
import { beforeClosingAnnotation, lastPrimaryAnnotation, namedAnnotation } from "../../api/annotations.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { keyOf } from "../../runtime/kube/object.ts";
import { jsonAnnotation } from "../kinds/json-annotation.ts";
import { type ConfigMap, configMaps } from "../kinds/kubernetes.ts";

/** Patroni's own names of its annotations. */
export const patroniKeys = {
  /** NAME-config: Patroni's settings as JSON. */
  settings: "config",
  /** NAME-config: the system identifier of the data; empty while the first instance makes it. */
  initialize: "initialize",
  /** NAME-leader: the holder of the lock. NAME-failover: the instance that is to hand over. NAME-sync: the leader that wrote it. */
  leader: "leader",
  renewTime: "renewTime",
  transitions: "transitions",
  failsafe: "failsafe",
  /** NAME-failover: the instance that is to lead. */
  member: "member",
  scheduledAt: "scheduled_at",
  synchronous: "sync_standby",
  quorum: "quorum",
} as const;

class StateObject {
  readonly object: ConfigMap;

  constructor(object: ConfigMap) {
    this.object = object;
  }

  get uid(): string {
    return this.object.metadata.uid ?? "";
  }

  protected read(name: string): string | undefined {
    return this.object.metadata.annotations?.[name];
  }

  /** All that Patroni has written, as a change that takes it away. */
  get forgotten(): Readonly<Record<string, null>> {
    const names = Object.keys(this.object.metadata.annotations ?? {}).filter((name) => !name.startsWith("sampledb.io/"));
    return Object.fromEntries(names.map((name) => [name, null]));
  }

  /** True where something had to be written. */
  async become(client: KubeClient, annotations: Readonly<Record<string, string | null>>): Promise<boolean> {
    const isSo = Object.entries(annotations).every(([name, value]) => (this.read(name) ?? null) === value);
    if (!isSo) await this.write(client, annotations);
    return !isSo;
  }

  protected async write(client: KubeClient, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const { resourceVersion } = this.object.metadata;
    await client.mergePatch(configMaps, keyOf(this.object), { metadata: { resourceVersion, annotations } });
  }
}

/** NAME-leader. The leader renews it in every loop. */
export class LeaderLock extends StateObject {
  /** The instance that holds the lock; undefined while no instance does. */
  get holder(): string | undefined {
    return this.read(patroniKeys.leader) || undefined;
  }

  /** When the holder renewed it last. Two renewals never have the same text. */
  get renewal(): string | undefined {
    return this.read(patroniKeys.renewTime);
  }

  /** How often the lock has changed hands. */
  get transitions(): number | undefined {
    const count = Number.parseInt(this.read(patroniKeys.transitions) ?? "", 10);
    return count >= 0 ? count : undefined;
  }

  /**
   * The members that the leader asks while the API server is away. Patroni lets no other member stand for election.
   * Undefined where the list is missing, empty or garbage: Patroni excludes no member then.
   */
  get failsafe(): ReadonlySet<string> | undefined {
    const names = Object.keys(jsonAnnotation(this.object, patroniKeys.failsafe));
    return names.length > 0 ? new Set(names) : undefined;
  }

  get lastPrimary(): string | undefined {
    return this.read(lastPrimaryAnnotation);
  }

  /** Takes the lock from its holder, unless the lock was renewed or taken since it was read. */
  async release(client: KubeClient): Promise<void> {
    await this.write(client, { [patroniKeys.leader]: null });
  }

  /** Without the resourceVersion: the leader renews the lock in every loop, and nobody else writes this note. */
  async noteLastPrimary(client: KubeClient, podName: string): Promise<void> {
    const annotations = { [lastPrimaryAnnotation]: podName };
    await client.mergePatch(configMaps, keyOf(this.object), { metadata: { annotations } });
  }
}

/** NAME-failover. Patroni removes an order that it has carried out, or can't carry out. */
export class SwitchoverOrder extends StateObject {
  get from(): string | undefined {
    return this.read(patroniKeys.leader);
  }

  get to(): string | undefined {
    return this.read(patroniKeys.member);
  }

  get isOpen(): boolean {
    return this.from !== undefined || this.to !== undefined;
  }

  /** A person has scheduled it with patronictl for a later time. */
  get isScheduled(): boolean {
    return this.read(patroniKeys.scheduledAt) !== undefined;
  }

  get named(): string | undefined {
    return this.read(namedAnnotation);
  }

  /** Orders a primary that is alive to hand over. */
  async handOver(client: KubeClient, from: string, to: string): Promise<void> {
    await this.write(client, { [patroniKeys.leader]: from, [patroniKeys.member]: to, [namedAnnotation]: to });
  }

  /** Orders an instance to lead where no instance does. */
  async appoint(client: KubeClient, to: string): Promise<void> {
    await this.write(client, { [patroniKeys.leader]: null, [patroniKeys.member]: to });
  }

  async takeBack(client: KubeClient): Promise<void> {
    await this.write(client, { [patroniKeys.leader]: null, [patroniKeys.member]: null, [namedAnnotation]: null });
  }
}

/** NAME-sync. */
export class Synchrony extends StateObject {
  /** The leader that wrote the list. */
  get leader(): string | undefined {
    return this.read(patroniKeys.leader) || undefined;
  }

  /** The replicas that commits wait for; empty while the list is an earlier leader's. Undefined where commits wait for no replica. */
  waitedFor(holder: string | undefined): ReadonlySet<string> | undefined {
    if (this.leader === undefined) return undefined;
    const names = this.leader === holder ? (this.read(patroniKeys.synchronous) ?? "") : "";
    return new Set(names.split(",").filter(Boolean));
  }

  /** Lets Patroni elect a leader without the replicas that a lost leader's commits waited for. */
  async forget(client: KubeClient): Promise<void> {
    await this.write(client, { [patroniKeys.leader]: null, [patroniKeys.synchronous]: null, [patroniKeys.quorum]: null });
  }
}

interface SettingsText {
  readonly synchronous_mode: string;
  readonly synchronous_mode_strict: boolean;
  readonly postgresql: { readonly parameters?: Readonly<Record<string, unknown>>; readonly pg_hba?: readonly string[] };
}

/** Who is let in, and whether commits wait for a replica also where there is none. */
interface LetIn {
  readonly synchronous_mode_strict?: boolean | undefined;
  readonly pg_hba?: readonly string[] | undefined;
}

/** NAME-config. */
export class ClusterSettings extends StateObject {
  /** Whether an instance has made the data. */
  get isInitialized(): boolean {
    return (this.read(patroniKeys.initialize) ?? "") !== "";
  }

  /** The system identifier of the data. */
  get systemIdentifier(): string | undefined {
    const told = this.read(patroniKeys.initialize) ?? "";
    return /^\d{1,20}$/.test(told) ? told : undefined;
  }

  /** Whether the first instance is making the data now. Patroni can't resume a bootstrap that is interrupted. */
  get isBootstrapping(): boolean {
    return this.read(patroniKeys.initialize) === "";
  }

  /** The settings as they were written. Two texts that are equal are the same settings. */
  get text(): string | undefined {
    return this.read(patroniKeys.settings);
  }

  get parameters(): Readonly<Record<string, unknown>> | undefined {
    return this.#values.postgresql?.parameters;
  }

  get synchronousMode(): string | undefined {
    return this.#values.synchronous_mode;
  }

  async setSynchronousMode(client: KubeClient, mode: string): Promise<void> {
    await this.write(client, { [patroniKeys.settings]: JSON.stringify({ ...this.#values, synchronous_mode: mode }) });
  }

  /** Whether the instances let in those of these lines of pg_hba, and nobody else. */
  letsIn(lines: readonly string[], { alone }: { readonly alone: boolean }): boolean {
    const isSame = JSON.stringify(this.#values.postgresql?.pg_hba) === JSON.stringify(lines);
    return isSame && !(alone && this.#values.synchronous_mode_strict);
  }

  /**
   * Lets in those of these lines of pg_hba, and nobody else, until `reopen`. The same write notes what was there before.
   * `alone`: an instance without replicas, whose commits must not wait for any.
   */
  async close(client: KubeClient, lines: readonly string[], { alone }: { readonly alone: boolean }): Promise<void> {
    const { synchronous_mode_strict, postgresql } = this.#values;
    const before: LetIn = { synchronous_mode_strict, pg_hba: postgresql?.pg_hba };
    await this.write(client, {
      ...this.#withLetIn({ synchronous_mode_strict: alone ? false : synchronous_mode_strict, pg_hba: lines }),
      [beforeClosingAnnotation]: this.read(beforeClosingAnnotation) ?? JSON.stringify(before), // closed twice: the first note counts
    });
  }

  /** Puts back what `close` has noted. Without a note it writes nothing. */
  async reopen(client: KubeClient): Promise<void> {
    if (this.read(beforeClosingAnnotation) === undefined) return;
    const before = jsonAnnotation<LetIn>(this.object, beforeClosingAnnotation);
    await this.write(client, { ...(before.pg_hba ? this.#withLetIn(before) : {}), [beforeClosingAnnotation]: null });
  }

  #withLetIn({ synchronous_mode_strict, pg_hba }: LetIn): Readonly<Record<string, string>> {
    const postgresql = { ...this.#values.postgresql, pg_hba };
    return { [patroniKeys.settings]: JSON.stringify({ ...this.#values, synchronous_mode_strict, postgresql }) };
  }

  /** Lets the next instance make the data. Otherwise it would wait for ever for the instance that set the mark. */
  async forgetBootstrap(client: KubeClient): Promise<void> {
    await this.write(client, { [patroniKeys.initialize]: null });
  }

  get #values(): Partial<SettingsText> {
    return jsonAnnotation<SettingsText>(this.object, patroniKeys.settings);
  }
}

export interface PatroniState {
  readonly settings: ClusterSettings | undefined;
  readonly lock: LeaderLock | undefined;
  readonly order: SwitchoverOrder | undefined;
  readonly synchrony: Synchrony | undefined;
}

/**
 * Makes Patroni's objects those of a database that was restored and has not started yet: nothing of the former history is known any more.
 * Its settings stay. True where something had to be written.
 */
export async function forgetHistory(
  client: KubeClient,
  { settings, lock, order, synchrony }: PatroniState,
  restored: { readonly systemIdentifier: string | undefined; readonly primary: string },
): Promise<boolean> {
  const writes = await Promise.all([
    settings?.become(client, { history: null, [patroniKeys.initialize]: restored.systemIdentifier ?? null }),
    lock?.become(client, { ...lock.forgotten, [lastPrimaryAnnotation]: restored.primary }),
    order?.become(client, { ...order.forgotten, [namedAnnotation]: null }),
    synchrony?.become(client, synchrony.forgotten),
  ]);
  return writes.some(Boolean);
}

/** Patroni changes these in every loop, and the operator needs none of them. */
const moving: readonly string[] = [patroniKeys.renewTime, "optime", "slots", "retain_slots"];

/** The part of such an object that changes only when something has happened. */
export function steadyPart({ metadata: { annotations = {}, labels }, data }: ConfigMap): string {
  return JSON.stringify([Object.entries(annotations).filter(([name]) => !moving.includes(name)), labels, data]);
}

// Whose turn it is. Pure functions: of what runs, what waits, and the limits.
import type { Operation, Permit } from "./permits.ts";

export interface Limits {
  readonly backups: number;
  readonly restores: number;
  /** Backups and restores together, on one store. */
  readonly perStore: number;
}

/**
 * Whether `own` may begin now.
 *
 * Restores come before backups. Among those of a kind the namespaces take turns: one that has little running, or asked for little, comes
 * before one that asked for much. Who can't begin for its store's sake holds up nobody on another store.
 */
export function turnOf(own: Operation, running: readonly Operation[], waiting: readonly Operation[], limits: Limits): Permit {
  const line = inTurn(running, [...waiting.filter(({ uid }) => uid !== own.uid), own]);
  const begun = [...running];
  for (const next of line) {
    const full = whatIsFull(next, begun, limits);
    if (next.uid !== own.uid) {
      if (!full) begun.push(next);
      continue;
    }
    if (!full) return { granted: true };
    const before = line.slice(0, line.indexOf(own)).filter((other) => full.competes(other));
    return { granted: false, message: words(full, running.filter(full.competes), before, own) };
  }
  throw new Error("an operation that asks is in the line");
}

interface Full {
  readonly competes: (other: Operation) => boolean;
  readonly limit: number;
  readonly what: string;
}

function whatIsFull({ kind, store }: Operation, begun: readonly Operation[], limits: Limits): Full | undefined {
  const ofKind: Full = {
    competes: (other) => other.kind === kind,
    limit: kind === "Backup" ? limits.backups : limits.restores,
    what: kind === "Backup" ? "backups run at once" : "restores run at once",
  };
  const ofStore: Full = {
    competes: (other) => other.store === store,
    limit: limits.perStore,
    what: "backups and restores run at once on its store",
  };
  return [ofKind, ofStore].find(({ competes, limit }) => begun.filter(competes).length >= limit);
}

/** By kind; then by how many of the namespace run or wait before it; then by age. Every replica of the operator gets the same order. */
export function inTurn(running: readonly Operation[], waiting: readonly Operation[]): Operation[] {
  const taken = new Map<string, number>();
  const count = ({ kind, namespace }: Operation) => {
    const place = taken.get(`${kind} ${namespace}`) ?? 0;
    taken.set(`${kind} ${namespace}`, place + 1);
    return place;
  };
  for (const operation of running) count(operation);
  return waiting
    .toSorted(byAge)
    .map((operation) => ({ operation, round: count(operation) }))
    .toSorted(
      (a, b) =>
        Number(a.operation.kind === "Backup") - Number(b.operation.kind === "Backup") ||
        a.round - b.round ||
        byAge(a.operation, b.operation),
    )
    .map(({ operation }) => operation);
}

function byAge(a: Operation, b: Operation): number {
  return a.since.localeCompare(b.since) || a.uid.localeCompare(b.uid);
}

/** Names only of the same namespace: another tenant's are none of the reader's business. */
function words({ limit, what }: Full, running: readonly Operation[], before: readonly Operation[], own: Operation): string {
  const known = running.filter(({ namespace }) => namespace === own.namespace).map(({ kind, name }) => `${kind} ${name}`);
  const foreign = running.length - known.length;
  const others = foreign > 0 ? [`${foreign} of other namespaces`] : [];
  const run = [...known, ...others].join(", ");
  return `it waits for its turn: at most ${limit} ${what}${run ? ` (now: ${run})` : ""}, and ${before.length || "none"} ${before.length === 1 ? "waits" : "wait"} before it`;
}

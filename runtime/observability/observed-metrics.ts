// Metrics of things that come and go, computed at each scrape: what is gone has no series any more.
import { Counter, Gauge, type Registry } from "prom-client";

/** One metric, for each of the things. */
export interface Family<T> {
  readonly type: "gauge" | "counter";
  readonly name: string;
  readonly help: string;
  /** Undefined: nothing is known of this thing, and nothing is told. */
  readonly read: (thing: T) => number | undefined;
}

export interface Observation<T> {
  /** As many series as there are things: a label must not have values of its own. */
  readonly labels: (thing: T) => Readonly<Record<string, string>>;
  readonly labelNames: readonly string[];
  readonly families: readonly Family<T>[];
  /** Asked once a scrape. */
  readonly things: () => readonly T[];
}

export function observedMetrics(registry: Registry): <T>(observation: Observation<T>) => void {
  return ({ labels, labelNames, families, things }) => {
    const metrics = families.map(({ type, name, help, read }, index) => {
      const Metric = type === "gauge" ? Gauge : Counter;
      // Metrics are collected in the order in which they were registered, all in one turn: the first fills them all.
      const collect = index === 0 ? fill : () => {};
      return { read, metric: new Metric({ name, help, labelNames: [...labelNames], registers: [registry], collect }) };
    });

    function fill(): void {
      const observed = things().map((thing) => ({ thing, labels: labels(thing) }));
      for (const { metric, read } of metrics) {
        metric.reset();
        for (const { thing, labels } of observed) {
          const value = read(thing);
          if (value !== undefined) metric.inc(labels, value); // from nothing: a counter can't be set
        }
      }
    }
  };
}

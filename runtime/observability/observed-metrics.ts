// Metrics of objects that come and go, computed at each scrape: an object that is gone has no series.
import { Counter, Gauge, type Registry } from "prom-client";

/** One metric of each thing. */
export interface Family<T> {
  readonly type: "gauge" | "counter";
  readonly name: string;
  readonly help: string;
  /** Undefined: unknown for this thing, and it gets no series. */
  readonly read: (thing: T) => number | undefined;
}

export interface Observation<T> {
  /** One series for each thing: labels must not multiply them. */
  readonly labels: (thing: T) => Readonly<Record<string, string>>;
  readonly labelNames: readonly string[];
  readonly families: readonly Family<T>[];
  /** Called once a scrape. */
  readonly things: () => readonly T[];
}

export function observedMetrics(registry: Registry): <T>(observation: Observation<T>) => void {
  return ({ labels, labelNames, families, things }) => {
    const metrics = families.map(({ type, name, help, read }, index) => {
      const Metric = type === "gauge" ? Gauge : Counter;
      // Metrics are collected in the order of their registration, all in one turn: the first one fills them all.
      const collect = index === 0 ? fill : () => {};
      return { read, metric: new Metric({ name, help, labelNames: [...labelNames], registers: [registry], collect }) };
    });

    function fill(): void {
      const observed = things().map((thing) => ({ thing, labels: labels(thing) }));
      for (const { metric, read } of metrics) {
        metric.reset();
        for (const { thing, labels } of observed) {
          const value = read(thing);
          if (value !== undefined) metric.inc(labels, value); // after the reset, since a counter can't be set
        }
      }
    }
  };
}

// Whether the event loop keeps up: a process that is always late renews no lease and hears no watch, and looks alive.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Clock, systemClock } from "../clock.ts";
import type { Check } from "./health-server.ts";

export interface LoopLagOptions {
  /** Unhealthy when one turn in a hundred is later than this. */
  readonly limitSeconds: number;
  /** Judged over at least so long; a check in between answers for the window before. */
  readonly windowSeconds?: number;
  readonly clock?: Clock;
  readonly delays?: DelayHistogram;
}

/** Nanoseconds between two turns, as perf_hooks measures them. */
export interface DelayHistogram {
  percentile(percentile: number): number;
  reset(): void;
}

const resolutionMilliseconds = 20;

/**
 * Late all the time is a problem, late once is not: a single long turn is less than a hundredth of a window, and passes.
 * The process has to be restarted for the former, which the latter would not deserve.
 */
export function loopLagCheck({ limitSeconds, windowSeconds = 30, clock = systemClock, delays = startMeasuring() }: LoopLagOptions): Check {
  let begin = clock.now();
  let lagSeconds = 0;
  return () => {
    if (clock.now() - begin >= windowSeconds * 1000) {
      // The histogram holds the time from one timer to the next, of which the timer's own time is no delay.
      lagSeconds = Math.max(0, delays.percentile(99) / 1e9 - resolutionMilliseconds / 1000);
      delays.reset();
      begin = clock.now();
    }
    return lagSeconds > limitSeconds ? `the event loop is ${lagSeconds.toFixed(1)} s late (limit ${limitSeconds} s)` : undefined;
  };
}

function startMeasuring(): DelayHistogram {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMilliseconds });
  histogram.enable();
  return histogram;
}

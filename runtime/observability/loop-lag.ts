// A health check of the event loop: a process that is always late renews no lease and reads no watch, but looks alive.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Clock, systemClock } from "../clock.ts";
import type { Check } from "./health-server.ts";

export interface LoopLagOptions {
  /** Unhealthy when one turn in a hundred is later than this. */
  readonly limitSeconds: number;
  /** The shortest window; a check in between gets the result of the window before. */
  readonly windowSeconds?: number;
  readonly clock?: Clock;
  readonly delays?: DelayHistogram;
}

/** Nanoseconds between two turns, measured by perf_hooks. */
export interface DelayHistogram {
  percentile(percentile: number): number;
  reset(): void;
}

const resolutionMilliseconds = 20;

/**
 * Fails when the event loop is late all the time. A single long turn is less than a hundredth of a window and passes: it does
 * not justify a restart.
 */
export function loopLagCheck({ limitSeconds, windowSeconds = 30, clock = systemClock, delays = startMeasuring() }: LoopLagOptions): Check {
  let begin = clock.now();
  let lagSeconds = 0;
  return () => {
    if (clock.now() - begin >= windowSeconds * 1000) {
      // The histogram contains the time between two timers; the timer's own interval is no delay.
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

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from '../platform/logger.ts';
import { takeLongestRead } from './longest-read.ts';

/** Delay of the event loop since the last report, in milliseconds. */
export interface EventLoopDelay {
  p99Ms: number;
  maxMs: number;
}

export interface EventLoopWatchdog {
  /** Returns the delay since the last report, and logs the longest read when the delay was long. */
  report(): EventLoopDelay;
  stop(): void;
}

const RESOLUTION_MS = 10;
const MAX_DELAY_MS = 200;

export function startEventLoopWatchdog(log: Pick<Logger, 'warn'>): EventLoopWatchdog {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // The histogram measures the time between two ticks of a timer.
  const delayMs = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  return {
    report() {
      const delay = { p99Ms: delayMs(histogram.percentile(99)), maxMs: delayMs(histogram.max) };
      histogram.reset();
      const read = takeLongestRead();
      if (delay.maxMs > MAX_DELAY_MS) {
        const { reader, ms: readMs } = read ?? { reader: null, ms: 0 };
        log.warn(
          { delayMs: Math.round(delay.maxMs), reader, readMs: Math.round(readMs) },
          'media: event loop delayed',
        );
      }
      return delay;
    },
    stop: () => histogram.disable(),
  };
}

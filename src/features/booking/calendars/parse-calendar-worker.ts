import { parentPort, workerData } from 'node:worker_threads';
import { readBusyTimes } from './ics-busy-times.ts';
import { ReadingError } from './ics-lines.ts';

/** Input of the parser worker; times in epoch milliseconds. */
export interface ParseTask {
  bytes: Uint8Array;
  /** Zone of all-day events and floating times. */
  timezone: string;
  fromMs: number;
  toMs: number;
}

/**
 * Alternating starts and ends, merged and sorted, with messages about parts that were not understood; or the
 * reason why the file cannot be read.
 */
export type ParseResult = { spans: Float64Array; events: number; warnings: string[] } | { refusal: string };

function read({ bytes, timezone, fromMs, toMs }: ParseTask): ParseResult {
  const { spans, warnings } = readBusyTimes(new TextDecoder().decode(bytes), timezone, { fromMs, toMs });
  return { spans: merged(spans), events: spans.length, warnings };
}

function merged(spans: [number, number][]): Float64Array {
  const whole: number[] = [];
  for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) {
    const last = whole.at(-1);
    if (last === undefined || start > last) whole.push(start, end);
    else whole[whole.length - 1] = Math.max(last, end);
  }
  return Float64Array.from(whole);
}

function isTask(data: unknown): data is ParseTask {
  return typeof data === 'object' && data !== null && 'bytes' in data && 'timezone' in data;
}

if (isTask(workerData)) {
  try {
    parentPort?.postMessage(read(workerData));
  } catch (error) {
    const refusal = error instanceof ReadingError ? error.message : 'The iCalendar file cannot be read.';
    parentPort?.postMessage({ refusal });
  }
}

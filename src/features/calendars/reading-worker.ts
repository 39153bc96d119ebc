import { parentPort, workerData } from 'node:worker_threads';
import { expandRecurringEvent, sync, type VEvent } from 'node-ical';
import { dateFromMs } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/durations.ts';
import { essence, ReadingError } from './reading.rules.ts';

/** What a reading is given; times in epoch milliseconds. */
export interface ReadingTask {
  bytes: Uint8Array;
  /** Of whole days and floating times. */
  timezone: string;
  fromMs: number;
  toMs: number;
}

/** Starts and ends in turn, merged and in order; or why not. */
export type ReadingAnswer = { spans: Float64Array; events: number } | { refusal: string };

const MAX_SPANS = 20_000;

function read({ bytes, timezone, fromMs, toMs }: ReadingTask): ReadingAnswer {
  const calendar = sync.parseICS(essence(new TextDecoder().decode(bytes), timezone));
  const range = { from: dateFromMs(fromMs - DAY_MS), to: dateFromMs(toMs + DAY_MS), expandOngoing: true };
  const spans: [number, number][] = [];
  let events = 0;
  for (const entry of Object.values(calendar)) {
    if (entry === undefined || !isEvent(entry)) continue;
    // Single dates of a series whose rule is not in the file.
    const others = entry.rrule === undefined ? Object.values(entry.recurrences ?? {}) : [];
    const dates = [entry, ...others.filter(isEvent)].flatMap((one) => expandRecurringEvent(one, range));
    for (const { start, end, isFullDay, event } of dates) {
      if (event.status === 'CANCELLED' || event.transparency === 'TRANSPARENT') continue;
      const span: [number, number] = isFullDay
        ? [dayMs(start, timezone), dayMs(end, timezone)]
        : [start.getTime(), end.getTime()];
      if (!(span[0] < span[1]) || span[1] <= fromMs || span[0] >= toMs) continue;
      events++;
      if (events > MAX_SPANS)
        throw new ReadingError(`It has more than ${MAX_SPANS} dates in the time to come.`);
      spans.push(span);
    }
  }
  return { spans: merged(spans), events };
}

function isEvent(entry: object): entry is VEvent {
  return 'type' in entry && entry.type === 'VEVENT' && 'start' in entry && entry.start instanceof Date;
}

/** A whole day is given as midnight of this process's zone; it is one of the creator's. */
function dayMs(day: Date, timeZone: string): number {
  const date = Temporal.PlainDate.from({
    year: day.getFullYear(),
    month: day.getMonth() + 1,
    day: day.getDate(),
  });
  return date.toZonedDateTime({ timeZone }).epochMilliseconds;
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

function isTask(data: unknown): data is ReadingTask {
  return typeof data === 'object' && data !== null && 'bytes' in data && 'timezone' in data;
}

if (isTask(workerData)) {
  try {
    parentPort?.postMessage(read(workerData));
  } catch (error) {
    const refusal =
      error instanceof ReadingError ? error.message : 'This is no iCalendar file that can be read.';
    parentPort?.postMessage({ refusal });
  }
}

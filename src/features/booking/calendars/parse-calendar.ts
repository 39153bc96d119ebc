import { Worker } from 'node:worker_threads';
import { programFile } from '../../../platform/root.ts';
import { ReadingError } from './ics-lines.ts';
import type { ParseResult, ParseTask } from './parse-calendar-worker.ts';

/** Busy times from a calendar file in epoch milliseconds, sorted and without overlaps. */
export interface ParsedCalendar {
  spans: { startMs: number; endMs: number }[];
  /** Dates of events in the range. */
  events: number;
  /** Messages for the owner about parts that were not understood. */
  warnings: string[];
}

/** Time limit, far above what calendars of thousands of events need. */
const TIME_MS = 5000;
const MEMORY_MB = 192;

/**
 * Parses an iCalendar file in a separate thread, which is terminated at the time limit: recurrence rules can
 * run forever.
 *
 * @throws {ReadingError}
 */
export async function parseCalendar(task: ParseTask, timeMs = TIME_MS): Promise<ParsedCalendar> {
  const worker = new Worker(programFile('src/features/booking/calendars/parse-calendar-worker'), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    // The output of the library about a file is discarded.
    stdout: true,
    stderr: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<ParseResult>();
  const tooLong = () => reject(new ReadingError('The calendar takes too long to read.'));
  const timer = setTimeout(tooLong, timeMs);
  worker.on('message', (answer: ParseResult) => resolve(answer));
  worker.on('error', (error) => {
    const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    reject(isMemory ? new ReadingError('The calendar needs too much memory to read.') : error);
  });
  worker.on('exit', () => reject(new Error('the calendar reader ended without a result')));
  try {
    const answer = await promise;
    if ('refusal' in answer) throw new ReadingError(answer.refusal);
    const { spans, events, warnings } = answer;
    return { spans: pairs(spans), events, warnings };
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function pairs(flat: Float64Array): ParsedCalendar['spans'] {
  return Array.from({ length: flat.length / 2 }, (_, i) => ({
    startMs: flat[2 * i] ?? 0,
    endMs: flat[2 * i + 1] ?? 0,
  }));
}

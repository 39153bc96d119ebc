import fc from 'fast-check';
import {
  type AvailabilityWindows,
  type Candidate,
  candidates,
  type SlotDurations,
  WEEKDAYS,
} from '../../src/features/booking/slots/rules.ts';
import { dateFromMs } from '../../src/kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../src/kernel/durations.ts';

/** Local time of a zone at every minute of five days around one: `2027-03-28T01:59`. */
export interface Walls {
  timezone: string;
  firstMs: number;
  walls: readonly string[];
  /** First moment at which each local time occurs. */
  firsts: ReadonlyMap<string, number>;
}

function wallReader(timezone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  });
  return (ms) => format.format(ms).replace(' ', 'T');
}

/** The UTC days of a year on which the clocks of a zone change, as ICU has them. */
export function changesOf(timezone: string, year: number): number[] {
  const read = wallReader(timezone);
  const offset = (ms: number) => Date.parse(`${read(ms)}Z`) - ms;
  const days: number[] = [];
  for (let ms = Date.UTC(year, 0, 1); ms < Date.UTC(year + 1, 0, 1); ms += DAY_MS) {
    if (offset(ms) !== offset(ms + DAY_MS)) days.push(ms);
  }
  return days;
}

export function wallsAround(timezone: string, dayMs: number): Walls {
  const read = wallReader(timezone);
  const firstMs = dayMs - 2 * DAY_MS;
  const walls: string[] = [];
  const firsts = new Map<string, number>();
  for (let ms = firstMs; ms < firstMs + 5 * DAY_MS; ms += MINUTE_MS) {
    const wall = read(ms);
    walls.push(wall);
    if (!firsts.has(wall)) firsts.set(wall, ms);
  }
  return { timezone, firstMs, walls, firsts };
}

/** Returns the expected slots, found by checking every minute. */
function byMinute(
  { firstMs, walls, firsts }: Walls,
  weekly: AvailabilityWindows['weekly'],
  lengths: SlotDurations,
): Candidate[] {
  const days = Array.from({ length: 7 }, (_, i) => dateFromMs(firstMs + (i - 1) * DAY_MS));
  const found: Candidate[] = [];
  for (const day of days) {
    const date = day.toISOString().slice(0, 10);
    for (const { start, end } of weekly[WEEKDAYS[(day.getUTCDay() + 6) % 7] ?? 'mon'] ?? []) {
      const closesAt = walls.findIndex((wall) => wall >= `${date}T${end}`);
      const closesMs = firstMs + closesAt * MINUTE_MS;
      for (const time of timesOf(start, end, lengths)) {
        const startMs = firsts.get(`${date}T${time}`);
        if (startMs === undefined || closesAt < 0) continue;
        const endMs = startMs + lengths.durationMin * MINUTE_MS;
        if (endMs > closesMs || found.some((before) => before.endMs > startMs)) continue;
        found.push({ startMs, endMs, freeMs: endMs + lengths.bufferMin * MINUTE_MS });
      }
    }
  }
  return found;
}

/** Returns the local times at which a slot may begin. */
function timesOf(start: string, end: string, { durationMin, bufferMin }: SlotDurations): string[] {
  const toMin = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
  const times: string[] = [];
  for (let at = toMin(start); at + durationMin <= toMin(end); at += durationMin + bufferMin) {
    times.push(`${two(Math.floor(at / 60))}:${two(at % 60)}`);
  }
  return times;
}

const two = (value: number) => String(value).padStart(2, '0');
const timeOf = (minute: number) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;

const windowsOfDay = fc
  .uniqueArray(fc.integer({ min: 0, max: 96 }), { minLength: 0, maxLength: 6 })
  .map((quarters) => quarters.toSorted((a, b) => a - b))
  .map((quarters) =>
    quarters.flatMap((from, i) => {
      const to = quarters[i + 1];
      return i % 2 === 1 || to === undefined ? [] : [{ start: timeOf(from * 15), end: timeOf(to * 15) }];
    }),
  );
const wholeDay = fc.constant([{ start: '00:00', end: '24:00' }]);
const day = fc.oneof({ weight: 3, arbitrary: windowsOfDay }, { weight: 1, arbitrary: wholeDay });
const week = fc.record({ mon: day, tue: day, wed: day, thu: day, fri: day, sat: day, sun: day });
const lengths = fc.record({
  durationMin: fc.constantFrom(10, 15, 20, 30, 45, 60, 90, 120, 180, 600),
  bufferMin: fc.constantFrom(0, 5, 15, 30, 60),
});

/**
 * Asserts that the rules and the exhaustive search agree, for `numRuns` weeks and durations around one day.
 */
export function assertAgreement(walls: Walls, numRuns: number): void {
  const range = { fromMs: walls.firstMs + DAY_MS, toMs: walls.firstMs + 4 * DAY_MS };
  fc.assert(
    fc.property(week, lengths, (weekly, of) => {
      const hours = { weekly, timezone: walls.timezone, blackouts: [], minNoticeMin: 0, maxAdvanceDays: 0 };
      const expected = byMinute(walls, weekly, of).filter(
        ({ startMs }) => startMs >= range.fromMs && startMs < range.toMs,
      );
      const found = candidates(hours, of, range);
      const told = (list: readonly Candidate[]) =>
        list.map(({ startMs, endMs, freeMs }) => `${startMs} ${endMs} ${freeMs}`).join('\n');
      if (told(found) === told(expected)) return;
      const iso = (list: readonly Candidate[]) =>
        list.map(({ startMs }) => dateFromMs(startMs).toISOString());
      throw new Error(
        `${walls.timezone}: offered ${iso(found).join(' ')}; by the minute ${iso(expected).join(' ')}`,
      );
    }),
    { numRuns },
  );
}

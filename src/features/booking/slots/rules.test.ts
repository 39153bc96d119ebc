import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import { type AvailabilityWindows, bookable, candidates, localTimes, parseDayRange } from './rules.ts';

const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;

function hours(
  window: { start: string; end: string } | null,
  rest: Partial<AvailabilityWindows> = {},
): AvailabilityWindows {
  const windows = window === null ? [] : [window];
  const weekly = {
    ...{ mon: windows, tue: windows, wed: windows, thu: windows, fri: windows, sat: windows, sun: windows },
  };
  return { weekly, timezone: 'Europe/Berlin', blackouts: [], minNoticeMin: 0, maxAdvanceDays: 60, ...rest };
}

/** Returns the wall times at which the slots of a day begin, formatted as UTC. */
function starts(
  of: AvailabilityWindows,
  lengths: { durationMin: number; bufferMin?: number },
  day: string,
): string[] {
  const range = parseDayRange({ from: day, to: day }, of.timezone, 0);
  return candidates(of, { bufferMin: 0, ...lengths }, range).map(({ startMs }) =>
    dateFromMs(startMs).toISOString().slice(0, 16),
  );
}

test('slots advance by the duration and its buffer, and the buffer may extend beyond the window', () => {
  const found = starts(
    hours({ start: '09:00', end: '12:00' }),
    { durationMin: 45, bufferMin: 15 },
    '2027-01-04',
  );
  assert.deepEqual(found, ['2027-01-04T08:00', '2027-01-04T09:00', '2027-01-04T10:00']);
  assert.deepEqual(starts(hours({ start: '09:00', end: '09:44' }), { durationMin: 45 }, '2027-01-04'), []);
  assert.deepEqual(starts(hours({ start: '23:15', end: '24:00' }), { durationMin: 45 }, '2027-01-04'), [
    '2027-01-04T22:15',
  ]);
  assert.deepEqual(starts(hours(null), { durationMin: 45 }, '2027-01-04'), []);
});

test('a skipped wall time is omitted, and a repeated one is used the first time', () => {
  const night = hours({ start: '01:00', end: '05:00' });
  assert.deepEqual(starts(night, { durationMin: 60 }, '2027-03-28'), [
    '2027-03-28T00:00',
    '2027-03-28T01:00',
    '2027-03-28T02:00',
  ]);
  assert.deepEqual(starts(night, { durationMin: 60 }, '2027-10-31'), [
    '2027-10-30T23:00',
    '2027-10-31T00:00',
    '2027-10-31T02:00',
    '2027-10-31T03:00',
  ]);
});

test('a slot lasts its duration in real time and ends within its window by the wall clock', () => {
  // Two hours from 01:00 end at 04:00 on the wall clock.
  assert.deepEqual(starts(hours({ start: '01:00', end: '03:00' }), { durationMin: 120 }, '2027-03-28'), []);
  // A slot at 03:00 would begin before that end, so it is omitted.
  assert.deepEqual(starts(hours({ start: '01:00', end: '07:00' }), { durationMin: 120 }, '2027-03-28'), [
    '2027-03-28T00:00',
    '2027-03-28T03:00',
  ]);
});

test('a day begins once when midnight is skipped or repeated', () => {
  const cairo = hours({ start: '00:00', end: '02:00' }, { timezone: 'Africa/Cairo' });
  assert.deepEqual(starts(cairo, { durationMin: 60 }, '2027-04-30'), ['2027-04-29T22:00']);
  const havana = hours({ start: '00:00', end: '02:00' }, { timezone: 'America/Havana' });
  assert.deepEqual(starts(havana, { durationMin: 60 }, '2027-11-07'), [
    '2027-11-07T04:00',
    '2027-11-07T06:00',
  ]);
});

test('days are parsed, and invalid ones name their field', () => {
  const refused = (query: { from?: string; to?: string }, field: string) =>
    assert.throws(
      () => parseDayRange(query, 'UTC', 0),
      (error) => error instanceof AppError && error.code === 'BAD_REQUEST' && error.field === field,
    );
  const days = (from: string, to: string) => parseDayRange({ from, to }, 'UTC', 0);
  assert.deepEqual(days('2027-01-01', '2027-01-01'), {
    fromMs: at('2027-01-01T00:00Z'),
    toMs: at('2027-01-02T00:00Z'),
  });
  assert.equal(days('2027-01-01', '2027-03-03').toMs, at('2027-03-04T00:00Z'));
  refused({ from: '2027-01-01', to: '2027-03-04' }, 'to');
  refused({ from: '2027-01-02', to: '2027-01-01' }, 'to');
  for (const text of [
    '2027-02-29',
    '2027-1-1',
    '20270101',
    '2027-01-01T00:00',
    '',
    '9999-01-01',
    '1969-12-31',
  ]) {
    refused({ from: text, to: '2027-01-01' }, 'from');
    refused({ from: '2027-01-01', to: text }, 'to');
  }
  const now = at('2027-01-04T23:30:00Z');
  assert.equal(parseDayRange({}, 'Europe/Berlin', now).fromMs, at('2027-01-04T23:00:00Z'));
  assert.equal(parseDayRange({}, 'Europe/Berlin', now).toMs, at('2027-02-01T23:00:00Z'));
});

test('notice, horizon and blackouts exclude slots', () => {
  const now = at('2027-01-04T08:30:00Z');
  const open = (rest: Partial<AvailabilityWindows>) => {
    const of = hours({ start: '09:00', end: '11:00' }, rest);
    const range = parseDayRange({ from: '2027-01-04', to: '2027-01-07' }, of.timezone, now);
    const found = bookable(candidates(of, { durationMin: 60, bufferMin: 30 }, range), of, now);
    const local = localTimes(of.timezone, range);
    return found.map(({ startMs }) => local(startMs).slice(5));
  };
  const whole = ['01-05T09:00', '01-06T09:00', '01-07T09:00'];
  assert.deepEqual(open({}), whole);
  assert.deepEqual(open({ minNoticeMin: 23 * 60 + 30 }), whole);
  assert.deepEqual(open({ minNoticeMin: 23 * 60 + 31 }), whole.slice(1));
  assert.deepEqual(open({ maxAdvanceDays: 0 }), []);
  assert.deepEqual(open({ maxAdvanceDays: 2 }), whole.slice(0, 2));
  assert.deepEqual(open({ maxAdvanceDays: 2 ** 31 - 1 }), whole);
  assert.deepEqual(open({ minNoticeMin: 2 ** 31 - 1 }), []);
  const away = (start: string, end: string) => open({ blackouts: [{ start, end }] });
  assert.deepEqual(away('2027-01-05', '2027-01-06'), whole.slice(2));
  // The end of an instant is excluded, and a buffer may extend into a blackout.
  assert.deepEqual(away('2027-01-05T09:00:00Z', '2027-01-06T08:00:00Z'), whole);
  assert.deepEqual(away('2027-01-05T08:59:00Z', '2027-01-06T08:00:00Z'), whole.slice(1));
  assert.deepEqual(away('2027-01-05T09:00:00Z', '2027-01-06T08:01:00Z'), ['01-05T09:00', '01-07T09:00']);
});

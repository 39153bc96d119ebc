import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateFromMs } from '../../../kernel/clock.ts';
import { type AvailableSlot, monthView, parseSelection, zoneOr } from './rules.ts';

const at = (text: string) => dateFromMs(Temporal.Instant.from(text).epochMilliseconds);
const free = (startsAt: string): AvailableSlot => ({
  startsAt: at(startsAt),
  endsAt: at(startsAt),
  seatsLeft: 1,
});
const BOUNDS = { first: '2026-11', last: '2027-01' };

test('a time is listed on its day in the displayed zone, and a month has all of its days from Monday on', () => {
  const times = [free('2026-11-30T20:00:00Z'), free('2026-11-30T10:00:00Z')];
  const shown = (month: string, zone: string) =>
    monthView(month, times, { zone, chosen: null, bounds: BOUNDS });
  const london = shown('2026-11', 'Europe/London');
  assert.deepEqual([london.day?.date, london.day?.times.length], ['2026-11-30', 2]);
  const auckland = shown('2026-12', 'Pacific/Auckland');
  assert.deepEqual([auckland.day?.date, auckland.day?.times.length], ['2026-12-01', 1]);
  assert.deepEqual([london.previous, london.next], [null, '2026-12']);
  assert.deepEqual([auckland.previous, auckland.next], ['2026-11', '2027-01']);
  // November 1, 2026 is a Sunday.
  assert.equal(
    london.weeks[0]?.findIndex((day) => day !== null),
    6,
  );
  assert.equal(london.weeks.flat().filter((day) => day !== null).length, 30);
  assert.ok(london.weeks.every((week) => week.length === 7));
});

test('invalid query parameters are ignored', () => {
  const read = (query: Record<string, string>) =>
    parseSelection((name) => query[name] ?? '', 'Europe/Berlin');
  const none = { month: null, day: null, startsAt: null, cohortId: null, wait: null };
  assert.deepEqual(read({}), { zone: 'Europe/Berlin', ...none });
  const odd = { zone: '+02:00', month: '2026-13', day: '2026-02-30', start: '2026-11-30' };
  assert.deepEqual(read(odd), { zone: 'Europe/Berlin', ...none });
  const good = {
    zone: 'asia/tokyo',
    month: '2026-12',
    day: '2026-12-24',
    start: '2026-12-24T10:00:00+01:00',
  };
  assert.deepEqual(read(good), {
    ...{ zone: 'Asia/Tokyo', month: '2026-12', day: '2026-12-24' },
    ...{ startsAt: at('2026-12-24T09:00:00Z'), cohortId: null, wait: null },
  });
  assert.equal(zoneOr('Mars/Base', ''), '');
});

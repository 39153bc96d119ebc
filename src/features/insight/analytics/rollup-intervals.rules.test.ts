import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import {
  DAILY_ROLLUP_INTERVALS_MIN,
  planCompaction,
  planRecompaction,
  planRollupScans,
  ROLLUP_INTERVALS_MIN,
  startOfInterval,
} from './rollup-intervals.rules.ts';

const QUARTER = 15;
const DAY = 1440;
/** Quarter-hours of several years, in minutes since 1970. */
const minute = fc.integer({ min: 0, max: 200_000 }).map((n) => 29_000_000 - (29_000_000 % DAY) + n * QUARTER);
const at = (minutes: number) => dateFromMs(minutes * MINUTE_MS);
const minutesOf = (date: Date) => date.getTime() / MINUTE_MS;
const ordered = fc.tuple(minute, minute).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

test('rollup intervals match the check constraints of the tables', () => {
  assert.deepEqual(ROLLUP_INTERVALS_MIN, VALUES.analytics_total.interval_min);
  assert.deepEqual(ROLLUP_INTERVALS_MIN, VALUES.analytics_breakdown.interval_min);
  assert.deepEqual(DAILY_ROLLUP_INTERVALS_MIN, VALUES.analytics_retention.interval_min);
});

test('scans cover exactly the time of their buckets, with existing rollups, and are few', () => {
  fc.assert(
    fc.property(ordered, fc.option(minute), ([from, to], closed) => {
      const closedUntil = closed === null ? null : at(closed);
      const walks = planRollupScans([{ from: at(from), to: at(to) }], closedUntil);
      let end = from;
      for (const walk of walks) {
        assert.equal(minutesOf(walk.from), end);
        end = minutesOf(walk.to);
        assert.equal(minutesOf(walk.from) % walk.length, 0);
        assert.equal(end % walk.length, 0);
        assert.ok(walk.length === QUARTER || end <= (closed ?? 0), 'a sum that is not there yet');
      }
      assert.equal(end, to);
      const rows = walks
        .filter((walk) => closed !== null && minutesOf(walk.to) <= closed)
        .reduce((sum, walk) => sum + (minutesOf(walk.to) - minutesOf(walk.from)) / walk.length, 0);
      // Each end needs at most three rollups of each interval and five of the 4 hours of a day; the middle
      // uses the longest.
      assert.ok(rows <= 2 * (3 * 5 + 5) + (to - from) / 92_160, `${rows} rows`);
    }),
  );
});

test('retention exists by day at all times', () => {
  const days = {
    from: at(29_000_160 - (29_000_160 % DAY)),
    to: at(29_000_160 - (29_000_160 % DAY) + 9 * DAY),
  };
  assert.deepEqual(
    planRollupScans([days], null, DAILY_ROLLUP_INTERVALS_MIN).map(({ length }) => length),
    [DAY],
  );
});

test('each rollup interval is built once, from existing data, after its end', () => {
  fc.assert(
    fc.property(fc.array(minute, { minLength: 2, maxLength: 5 }), (moments) => {
      const made = new Set<string>();
      const steps = moments.toSorted((a, b) => a - b);
      for (const [index, until] of steps.entries()) {
        const before = steps[index - 1];
        if (before === undefined) continue;
        for (const { length, from, to } of planCompaction(at(before), at(until))) {
          assert.ok(minutesOf(to) <= until);
          for (let begin = minutesOf(from); begin < minutesOf(to); begin += length) {
            assert.ok(!made.has(`${length} ${begin}`), 'made twice');
            made.add(`${length} ${begin}`);
          }
        }
      }
      const [first = 0] = steps;
      const last = steps.at(-1) ?? 0;
      for (const length of ROLLUP_INTERVALS_MIN.slice(1)) {
        const count =
          (minutesOf(startOfInterval(at(last), length)) - minutesOf(startOfInterval(at(first), length))) /
          length;
        assert.equal([...made].filter((name) => name.startsWith(`${length} `)).length, count);
      }
    }),
    { numRuns: 8 },
  );
});

test('a rebuilt day recomputes the intervals around it as far as they are compacted', () => {
  const day = at(29_000_160 - (29_000_160 % 92_160) + 5 * DAY);
  const around = (closed: number) =>
    planRecompaction(day, closed === 0 ? null : at(minutesOf(day) + closed)).map(({ length, from, to }) => [
      length,
      minutesOf(from) - minutesOf(day),
      minutesOf(to) - minutesOf(day),
    ]);
  assert.deepEqual(around(0), []);
  assert.deepEqual(around(300), [
    [60, 0, 300],
    [240, 0, 240],
  ]);
  assert.deepEqual(around(DAY), [
    [60, 0, DAY],
    [240, 0, DAY],
    [DAY, 0, DAY],
  ]);
  assert.deepEqual(around(3 * DAY).at(-1), [4 * DAY, -DAY, 3 * DAY]);
  assert.deepEqual(around(100 * DAY).at(-1), [64 * DAY, -5 * DAY, 59 * DAY]);
});

import fc from 'fast-check';
import type { UsageEvent, Viewer } from '../../src/features/insight/usage-events/index.ts';
import type { PlayerEvent } from '../../src/platform/db/json-columns.ts';

const MIDNIGHT = Date.parse('2026-11-21T00:00:00Z');
/** Time shortly after every history: unique viewers of its days are still stored. */
export const AFTER_HISTORY = '2026-11-22T10:00:00Z';
/** Tables written by the rollups, in order. */
export const TABLES = [
  ...['analytics_unique_viewer', 'analytics_total', 'analytics_breakdown', 'analytics_retention'],
  ...['usage_total', 'usage_request', 'rollup_state'],
];

const viewer: fc.Arbitrary<Viewer | null> = fc.option(
  fc.record({
    hash: fc.constantFrom('aa', 'bb', 'cc'),
    country: fc.constantFrom('DE', 'ZZ'),
    device: fc.constantFrom('MOBILE', null),
    browser: fc.constant('Firefox'),
    os: fc.constant(null),
    referrer: fc.constantFrom(null, 'google.com', 'm.facebook.com', 'example.com'),
    isBot: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    isSelf: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  }),
  { freq: 6 },
);
/** Times around two quarter-hours and midnight, and occasionally a day away. */
const at = fc
  .tuple(
    fc.constantFrom(0, 0, 0, -900_000, 900_000, -86_400_000, 50_000_000),
    fc.integer({ min: -90, max: 90 }),
    fc.constantFrom(0, 0, 501),
  )
  .map(([far, seconds, ms]) => new Date(MIDNIGHT + far + seconds * 1000 + ms));
const events: fc.Arbitrary<PlayerEvent[]> = fc.array(
  fc.record(
    {
      type: fc.constantFrom('PLAY', 'TICK', 'TICK', 'PAUSE', 'SEEK', 'END', 'ERROR'),
      positionSec: fc.integer({ min: 0, max: 160 }).map((n) => n / 4),
      at: fc.constant(1),
      quality: fc.constantFrom(720, 1080),
    },
    { requiredKeys: ['type', 'positionSec', 'at'] },
  ),
  { minLength: 1, maxLength: 3 },
);
const beacon = fc.record({
  kind: fc.constant('BEACON' as const),
  playbackSession: fc.constantFrom('one', 'two'),
  number: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max: 9 }) },
    { weight: 1, arbitrary: fc.constant(108) },
  ),
  playerEvents: events,
  subjectId: fc.constantFrom('vid_a', 'vid_a', 'str_a'),
  viewer,
  at,
});
const other = fc.record({
  kind: fc.constantFrom(
    ...([
      'VIEW',
      'VIEW',
      'VIEW',
      'IMPRESSION',
      'JOIN',
      'LEAVE',
      'PRESENCE',
      'CHAT',
      'FOLLOW',
      'UNFOLLOW',
    ] as const),
    ...([
      'BROADCAST',
      'LIVE',
      'REQUEST',
      'REQUEST',
      'DELIVERY',
      'EGRESS',
      'ENCODE',
      'ROOM',
      'STORAGE',
    ] as const),
  ),
  amount: fc.integer({ min: 0, max: 5000 }),
  subjectId: fc.constantFrom('vid_a', 'vid_b', 'str_a', null),
  viewer,
  bitrateKbps: fc.constantFrom(null, 2500),
  keyId: fc.constantFrom('key_1', null),
  status: fc.constantFrom(200, 404, 429, 503),
  at,
});
/** Events committed together: when they are written, and the number of steps until their commit. */
const changeWithin = (steps: number) =>
  fc.record({
    facts: fc.array(fc.oneof({ weight: 3, arbitrary: beacon }, { weight: 1, arbitrary: other }), {
      minLength: 1,
      maxLength: 6,
    }),
    begins: fc.integer({ min: 0, max: steps - 4 }),
    lasts: fc.constantFrom(0, 0, 0, 1, 3),
  });
/** @param steps at least 5. */
export const historyOf = (steps: number) =>
  fc.record({
    changes: fc.array(changeWithin(steps), { minLength: 1, maxLength: steps }),
    /** Action after each step: none, a run, a killed run, two concurrent runs, or rebuilding a day. */
    acts: fc.array(
      fc.oneof(
        fc.constantFrom('none', 'run', 'run', 'two', 'rebuild'),
        fc
          .tuple(fc.constantFrom('BEFORE', 'AFTER'), fc.constantFrom(...TABLES))
          .map(([when, table]) => when + table),
      ),
      { minLength: steps, maxLength: steps },
    ),
    chunk: fc.constantFrom(4, 15, 1000),
  });

/** Events committed together. */
export type Change = ReturnType<typeof changeWithin> extends fc.Arbitrary<infer T> ? T : never;

/** Returns the event in a workspace and session of only this history. */
export function placed(prefix: string, fact: Change['facts'][number]): UsageEvent {
  const { playbackSession, ...rest }: Omit<UsageEvent, 'workspaceId'> = fact;
  const ours = { ...rest, workspaceId: `${prefix}w` };
  return playbackSession === undefined ? ours : { ...ours, playbackSession: prefix + playbackSession };
}

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import { HEALTH_MESSAGES } from './health-messages.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
before(async () => {
  app = await startTestApp({ clock });
  ({ key } = await app.createKey());
});
after(() => app.close());

const GOOD = {
  bitrateKbps: 2500,
  fps: 30,
  width: 1280,
  height: 720,
  codec: 'avc1.64001f',
  keyframeIntervalSec: 2,
  droppedFrames: 0,
  lateFrames: 0,
  avDriftMs: 10,
};

async function signal() {
  const stream = await createEncoderStream(app, key);
  const session = await stream.connect();
  const { signals, healthSeries } = app.container;
  return {
    ...stream,
    session,
    /** Reports health as the media process does every five seconds. */
    async report(changes: Partial<typeof GOOD> = {}, ...issues: string[]) {
      const health = { ...GOOD, ...changes, issues };
      healthSeries.add(stream.id, health);
      await signals.reportHealth(stream.id, health);
      await healthSeries.flush();
    },
    health: async () => (await app.request('GET', `/streams/${stream.id}/health`, { key })).assertOk(200),
    issues: async () => Object(await stream.read('health')).issues,
    told: async () => {
      const rows = await app.container.sql<{ healthy: boolean; issues: string[] }[]>`
        select (body::json->'data'->>'healthy')::boolean as healthy, body::json->'data'->'issues' as issues from event
        where type = 'stream.health_changed' and body::json->'data'->>'streamId' = ${stream.id} order by seq`;
      for (const { healthy, issues } of rows) assert.equal(healthy, issues.length === 0);
      return rows.map(({ issues }) => issues.join(' '));
    },
  };
}

const pass = async (seconds: number) => {
  clock.advance(seconds * 1000);
  await app.container.signals.sweep();
};

test('health covers the last hour with a point per ten seconds and gaps without measurements', async () => {
  const stream = await signal();
  const before = await stream.health();
  assert.deepEqual([before.at('data.points'), before.at('data.healthy')], [[], null]);
  await stream.report({ droppedFrames: 4 });
  clock.advance(5000);
  await stream.report({ bitrateKbps: 1500, droppedFrames: 6, lateFrames: 2, avDriftMs: -700 });
  clock.advance(5000);
  await stream.report({ droppedFrames: 7, keyframeIntervalSec: 10 }, 'KEYFRAME_INTERVAL');
  const now = await stream.health();
  assert.equal(now.at('data.healthy'), false);
  assert.deepEqual(now.at('data.issues'), [
    { code: 'KEYFRAME_INTERVAL', ...HEALTH_MESSAGES.KEYFRAME_INTERVAL },
  ]);
  const { issues: _, ...current } = Object(now.at('data.current'));
  assert.deepEqual(current, { ...GOOD, droppedFrames: 7, keyframeIntervalSec: 10 });
  const first = {
    at: '2026-11-20T09:00:00.000Z',
    bitrateKbps: 2000,
    fps: 30,
    keyframeIntervalSec: 2,
    droppedFrames: 6,
    lateFrames: 2,
    avDriftMs: -700,
  };
  assert.deepEqual(now.at('data.points'), [first]);
  clock.advance(600_000);
  // Another connection of the encoder counts from 0.
  await stream.report({ droppedFrames: 3 });
  clock.advance(10_000);
  await app.container.healthSeries.flush();
  const later = await stream.health();
  const points = [0, 1, 2].map((index) => Object(later.at(`data.points.${index}`)));
  assert.deepEqual(
    points.map(({ at, droppedFrames }) => [at, droppedFrames]),
    [
      [first.at, 6],
      ['2026-11-20T09:00:10.000Z', 1],
      ['2026-11-20T09:10:10.000Z', 3],
    ],
  );
  clock.advance(3_000_000);
  const rest = await stream.health();
  assert.equal(Object(rest.at('data.points')).length, 1, 'an hour, not more');
  await app.container.healthSeries.forget();
  const [row] = await app.container.sql`select count(*)::int as count from stream_health_point`;
  assert.equal(row?.count, 1, 'nor is more kept');
});

test('points that cannot be written are written later', async () => {
  const stream = await signal();
  const { sql } = app.container;
  await stream.report();
  clock.advance(10_000);
  await sql`alter table stream_health_point rename to out_of_reach`;
  await assert.rejects(app.container.healthSeries.flush());
  await sql`alter table out_of_reach rename to stream_health_point`;
  await app.container.healthSeries.flush();
  assert.equal(Object((await stream.health()).at('data.points')).length, 1);
});

test('a signal that is no longer measured is unhealthy until the next measurement', async () => {
  const stream = await signal();
  await stream.report();
  await pass(11);
  assert.deepEqual(await stream.issues(), []);
  await pass(2);
  assert.deepEqual(await stream.issues(), ['NO_MEASUREMENT']);
  assert.equal(Object(await stream.read('health')).bitrateKbps, 0);
  assert.equal((await stream.health()).at('data.healthy'), false);
  assert.deepEqual(await stream.told(), ['NO_MEASUREMENT']);
  await stream.report();
  assert.deepEqual(await stream.issues(), []);
  for (let sec = 0; sec < 60; sec += 5) {
    await pass(5);
    await stream.report();
  }
  assert.deepEqual(await stream.told(), ['NO_MEASUREMENT', '']);
});

test('a change within the minute is emitted at its end, even after the signal has ended', async () => {
  const stream = await signal();
  await stream.report({}, 'KEYFRAME_INTERVAL');
  clock.advance(10_000);
  await stream.report();
  clock.advance(5000);
  await stream.end(stream.session, 'unpublish');
  await pass(44.9);
  assert.deepEqual(await stream.told(), ['KEYFRAME_INTERVAL']);
  await pass(0.1);
  await pass(60);
  assert.deepEqual(await stream.told(), ['KEYFRAME_INTERVAL', '']);
});

test('a change that reverts within the minute is not emitted', async () => {
  const stream = await signal();
  await stream.report({}, 'KEYFRAME_INTERVAL');
  clock.advance(10_000);
  await stream.report();
  clock.advance(10_000);
  await stream.report({}, 'KEYFRAME_INTERVAL');
  await stream.end(stream.session, 'unpublish');
  await pass(120);
  assert.deepEqual(await stream.told(), ['KEYFRAME_INTERVAL']);
});

test('a rejection within the minute is also emitted at its end', async () => {
  const stream = await signal();
  await stream.report({}, 'KEYFRAME_INTERVAL');
  clock.advance(10_000);
  await app.container.signals.publishRejected(stream.session, 'RESOLUTION_CHANGED');
  await stream.end(stream.session, 'kicked');
  assert.deepEqual(await stream.issues(), ['RESOLUTION_CHANGED'], 'it is shown at once');
  assert.deepEqual(await stream.told(), ['KEYFRAME_INTERVAL']);
  await pass(50);
  assert.deepEqual(await stream.told(), ['KEYFRAME_INTERVAL', 'RESOLUTION_CHANGED']);
});

test('a clock set back by an hour does not suppress events', async () => {
  const stream = await signal();
  await stream.report({}, 'KEYFRAME_INTERVAL');
  clock.advance(-3_600_000);
  await stream.report();
  assert.deepEqual(await stream.told(), ['KEYFRAME_INTERVAL', '']);
  await app.container.healthSeries.forget();
  assert.equal(Object((await stream.health()).at('data.points')).length, 0, 'of a time to come');
});

test('the guide lists every issue with its remedy', async () => {
  const guide = await readFile('docs/guides/streams.md', 'utf8');
  for (const [word, { remedy }] of Object.entries(HEALTH_MESSAGES)) {
    assert.ok(guide.includes(`| \`${word}\` |`), word);
    assert.match(remedy, /^[A-Z].*\.$/);
  }
});

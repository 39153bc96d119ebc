import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ingestSession } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { createAirtime } from './airtime.service.ts';

const clock = new TestClock('2026-11-20T09:00:20.000Z');
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const count = () => runTask(app.container, 'stream airtime');

/** Creates a stream with a signal. */
async function signalled(settings: object = {}) {
  const { key } = await app.createKey();
  const call = async (method: string, path: string, body?: object) =>
    (await app.request(method, path, body === undefined ? { key } : { key, body })).assertOk(
      body ? 201 : 200,
    );
  const id = (await call('POST', '/streams', { title: 'Evening', ...settings })).string('data.id');
  const session = ingestSession(id);
  await app.container.signals.publishStarted(session);
  return { id, session, act: (name: string) => call('POST', `/streams/${id}/${name}`) };
}

const factsOf = async (streamId: string) => {
  const rows = await app.container.db
    .selectFrom('usage_event')
    .select(['kind', 'amount', 'bitrate_kbps', 'created_at'])
    .where('subject_id', '=', streamId)
    .orderBy('created_at')
    .orderBy('kind')
    .execute();
  return [...rows];
};
const secondsOf = async (streamId: string) =>
  (await factsOf(streamId)).reduce((sum, { kind, amount }) => sum + (kind === 'LIVE' ? amount : 0), 0) / 1000;

test('airtime is counted from start to end, in intervals within minutes, with their bitrates', async () => {
  const { id, act } = await signalled();
  await count();
  assert.deepEqual(await factsOf(id), [], 'a signal alone is no broadcast');
  await act('start');
  const points = ['09:00:30', '09:00:50', '09:01:30'].map((time, n) => ({
    ...{ stream_id: id, at: new Date(`2026-11-20T${time}Z`), bitrate_kbps: 2000 + n * 1000, fps: 30 },
    ...{ dropped_frames: 0, late_frames: 0, keyframe_interval_ms: 2000, av_drift_ms: 0 },
  }));
  await app.container.db.insertInto('stream_health_point').values(points).execute();
  clock.advance(90_000);
  await Promise.all([count(), count(), count()]);
  clock.advance(30_000);
  await act('stop');
  clock.advance(60_000);
  await count();
  const at = (time: string) => new Date(`2026-11-20T${time}Z`);
  assert.deepEqual(await factsOf(id), [
    { kind: 'BROADCAST', amount: 1, bitrate_kbps: null, created_at: at('09:00:20') },
    { kind: 'LIVE', amount: 40_000, bitrate_kbps: 2500, created_at: at('09:00:20') },
    { kind: 'LIVE', amount: 50_000, bitrate_kbps: 4000, created_at: at('09:01:00') },
    { kind: 'LIVE', amount: 10_000, bitrate_kbps: null, created_at: at('09:01:50') },
    { kind: 'LIVE', amount: 20_000, bitrate_kbps: null, created_at: at('09:02:00') },
  ]);
});

test('airtime that was not committed is counted by the next run', async () => {
  const { id, act } = await signalled();
  await act('start');
  clock.advance(45_000);
  const { db, facts } = app.container;
  const failing = createAirtime({
    db,
    clock,
    facts: {
      async append(tx, rows) {
        await facts.append(tx, rows);
        throw new Error('killed');
      },
    },
  });
  await assert.rejects(failing.run(), /killed/);
  assert.equal(await secondsOf(id), 0);
  clock.advance(5000);
  await count();
  await act('stop');
  assert.equal(await secondsOf(id), 50);
});

test('a signal gap counts when the broadcast continues, and not when it ended with the signal', async () => {
  const stays = await signalled({ reconnectWindowSec: 120 });
  const goes = await signalled({ reconnectWindowSec: 0 });
  for (const { act } of [stays, goes]) await act('start');
  clock.advance(10_000);
  for (const { session, id } of [stays, goes]) {
    await app.container.signals.publishEnded({
      sessionId: session.sessionId,
      streamId: id,
      reason: 'idle',
      bytes: 0,
    });
  }
  clock.advance(20_000);
  await count();
  assert.deepEqual([await secondsOf(stays.id), await secondsOf(goes.id)], [10, 10]);
  for (const { id } of [stays, goes]) await app.container.signals.publishStarted(ingestSession(id));
  clock.advance(10_000);
  for (const { act } of [stays, goes]) await act('stop');
  assert.deepEqual([await secondsOf(stays.id), await secondsOf(goes.id)], [40, 20]);
  const broadcasts = async (id: string) =>
    (await factsOf(id)).filter(({ kind }) => kind === 'BROADCAST').length;
  assert.deepEqual([await broadcasts(stays.id), await broadcasts(goes.id)], [1, 2]);
});

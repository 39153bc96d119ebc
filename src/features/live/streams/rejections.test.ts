import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import type { StreamSignals } from './index.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let signals: StreamSignals;

before(async () => {
  app = await startTestApp({ clock, env: { SIGNAL_GRACE_MS: '3000' } });
  ({ key } = await app.createKey());
  ({ signals } = app.container);
});
after(() => app.close());

/** Returns the issues of each `stream.health_changed`. */
async function emittedIssues(streamId: string): Promise<unknown[]> {
  const rows = await app.container.sql<{ issues: unknown }[]>`
    select body::json->'data'->'issues' as issues from event
    where type = 'stream.health_changed' and body::json->'data'->>'streamId' = ${streamId} order by seq`;
  return rows.map(({ issues }) => issues);
}

const WORDS = [
  'UNSUPPORTED_CODEC',
  'NO_TRANSCODE_CAPACITY',
  'RESOLUTION_CHANGED',
  'BITRATE_OVER_PLAN',
] as const;
for (const word of WORDS) {
  test(`${word}: the stream, its session and an event show the rejection, even after the encoder has gone`, async () => {
    const { id, read, connect, end, sessions } = await createEncoderStream(app, key);
    const video = { codec: 'hvc1.1.6.L93', width: 1280, height: 720, fps: 30 };
    const session = { ...(await connect()), video };
    await signals.publishRejected(session, word);
    await end(session, 'kicked');
    assert.equal(await read('hasSignal'), false);
    const unknown = { keyframeIntervalSec: null, droppedFrames: 0, lateFrames: 0, avDriftMs: null };
    assert.deepEqual(await read('health'), { bitrateKbps: 0, ...video, ...unknown, issues: [word] });
    assert.equal((await sessions()).at('data.0.error'), word);
    assert.deepEqual(await emittedIssues(id), [[word]]);

    // Automatic retries of the encoder emit no events.
    const again = await connect();
    await signals.publishRejected(again, word);
    await end(again, 'kicked');
    assert.deepEqual(await emittedIssues(id), [[word]]);

    // The fixed encoder returns within the window.
    await connect();
    assert.equal(await read('health'), null);
    assert.equal((await sessions()).at('data.0.error'), null);
  });
}

test('a rejection of a replaced connection does not affect the new one', async () => {
  const { read, connect } = await createEncoderStream(app, key);
  const old = await connect();
  await connect();
  await signals.publishRejected(old, 'UNSUPPORTED_CODEC');
  assert.equal(await read('health'), null);
});

test('ENCODERS_OVER_PLAN: an encoder beyond the plan is rejected with the reason until another one leaves', async () => {
  const { key: mine } = await app.createKey({ account: await app.createAccount({ plan: 'FREE' }) });
  const streams = await Promise.all([1, 2, 3].map(() => createEncoderStream(app, mine)));
  const [first, second, third] = streams;
  assert.ok(first && second && third);
  const leaving = await first.connect();
  await second.connect();
  await assert.rejects(third.connect(), /encoder limit of the plan/);
  assert.equal(await third.read('hasSignal'), false);
  assert.deepEqual(Object(await third.read('health')).issues, ['ENCODERS_OVER_PLAN']);
  assert.deepEqual(await emittedIssues(third.id), [['ENCODERS_OVER_PLAN']]);
  // A takeover does not count as a further encoder.
  await second.connect();
  await first.end(leaving, 'unpublish');
  await third.connect();
  assert.equal(await third.read('hasSignal'), true);
});

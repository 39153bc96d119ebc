import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import type { StreamSignals } from './index.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let signals: StreamSignals;

before(async () => {
  app = await startTestApp({ clock });
  ({ key } = await app.createKey());
  ({ signals } = app.container);
});
after(() => app.close());

const stream = (settings: object = {}) => createEncoderStream(app, key, settings);

describe('GET /streams/{id}/sessions', () => {
  test('a session with one broadcast returns exactly the documented fields', async () => {
    const { act, connect, end, sessions } = await stream();
    const begin = clock.now().toISOString();
    const session = await connect();
    clock.advance(5000);
    await act('start');
    clock.advance(61_500);
    await act('stop');
    clock.advance(1000);
    await end(session, 'unpublish');
    const answer = await sessions();
    assert.deepEqual(answer.at('data'), [
      {
        id: answer.string('data.0.id'),
        signalStartedAt: begin,
        signalEndedAt: clock.now().toISOString(),
        broadcastStartedAt: iso(begin, 5000),
        broadcastEndedAt: iso(begin, 66_500),
        durationSec: 61,
        peakViewers: 0,
        uniqueViewers: 0,
        recordingVideoId: null,
        error: null,
      },
    ]);
    assert.match(answer.string('data.0.id'), /^ses_/);
  });

  test('a reconnect within reconnectWindowSec continues the session, and a later one begins a new session', async () => {
    const { connect, end, sessions } = await stream({ reconnectWindowSec: 60 });
    await end(await connect(), 'unpublish');
    clock.advance(60_000);
    await end(await connect(), 'unpublish');
    assert.equal((await sessions()).list('data').length, 1);
    clock.advance(60_001);
    await connect();
    const both = await sessions();
    assert.equal(both.list('data').length, 2);
    assert.equal(both.at('data.0.signalEndedAt'), null);
    assert.notEqual(both.at('data.1.signalEndedAt'), null);
  });

  test('a window of 0 opens a separate session for each signal', async () => {
    const { connect, end, sessions } = await stream({ reconnectWindowSec: 0 });
    await end(await connect(), 'unpublish');
    clock.advance(1);
    await connect();
    assert.equal((await sessions()).list('data').length, 2);
  });

  test('a second broadcast on the same signal opens a separate session', async () => {
    const { act, connect, sessions } = await stream();
    await connect();
    await act('start');
    clock.advance(10_000);
    await act('stop');
    clock.advance(60_000);
    await act('start');
    clock.advance(5000);
    await act('stop');
    const list = await sessions();
    assert.deepEqual([list.at('data.0.durationSec'), list.at('data.1.durationSec')], [5, 10]);
  });

  test('sessions are listed in pages', async () => {
    const { id, connect, end } = await stream({ reconnectWindowSec: 0 });
    for (let i = 0; i < 3; i++) {
      await end(await connect(), 'unpublish');
      clock.advance(1000);
    }
    const first = await app.request('GET', `/streams/${id}/sessions?limit=2`, { key });
    const cursor = first.assertOk(200).string('pagination.nextCursor');
    const rest = await app.request('GET', `/streams/${id}/sessions?limit=2&cursor=${cursor}`, { key });
    assert.equal(rest.assertOk(200).list('data').length, 1);
    const other = await stream();
    const foreign = await app.request('GET', `/streams/${other.id}/sessions?limit=2&cursor=${cursor}`, {
      key,
    });
    foreign.assertError('BAD_REQUEST', 'cursor');
  });
});

describe('authorization of a publish', () => {
  const ask = (streamKey: string) =>
    signals.authorise({ key: streamKey, app: 'live', ip: '127.0.0.1', protocol: 'rtmp' });

  test('a publish gets the limits of the plan and the mode', async () => {
    const account = await app.createAccount({ plan: 'PRO' });
    for (const [mode, maxHeight] of [
      ['live', 1440],
      ['test', 720],
    ] as const) {
      const by = (await app.createKey({ account, mode })).key;
      const created = await app.request('POST', '/streams', { key: by, body: { title: 'x' } });
      const grant = await ask(created.string('data.streamKey'));
      assert.equal(grant?.streamId, created.at('data.id'));
      assert.deepEqual([grant?.maxHeight, grant?.maxFps], [maxHeight, 60]);
    }
  });

  test('an unknown key, a disabled stream and a suspended account are rejected', async () => {
    assert.equal(await ask('nothing'), null);
    assert.equal(await ask(''), null);
    assert.equal(await ask('\0'), null);
    const { key: by, account } = await app.createKey();
    const created = await app.request('POST', '/streams', { key: by, body: { title: 'x' } });
    const streamKey = created.string('data.streamKey');
    const path = `/streams/${created.string('data.id')}`;
    await app.request('PATCH', path, { key: by, body: { enabled: false } });
    assert.equal(await ask(streamKey), null);
    await app.request('PATCH', path, { key: by, body: { enabled: true } });
    assert.notEqual(await ask(streamKey), null);
    await app.container.accounts.suspend(account.email);
    assert.equal(await ask(streamKey), null);
  });
});

test('the health of the signal is shown while there is one', async () => {
  const { id, connect, end, read } = await stream();
  const health = {
    bitrateKbps: 2500,
    fps: 30,
    width: 1280,
    height: 720,
    codec: 'avc1.64001f',
    keyframeIntervalSec: 2,
    droppedFrames: 3,
    lateFrames: 0,
    avDriftMs: -20,
    issues: [],
  };
  await signals.reportHealth(id, health);
  assert.equal(await read('health'), null);
  const session = await connect();
  await signals.reportHealth(id, { ...health, issues: ['RESOLUTION_CAPPED'] });
  assert.deepEqual(await read('health'), { ...health, issues: ['RESOLUTION_CAPPED'] });
  await end(session, 'unpublish');
  assert.equal(await read('health'), null);
});

function iso(begin: string, ms: number): string {
  return new TestClock(Date.parse(begin) + ms).now().toISOString();
}

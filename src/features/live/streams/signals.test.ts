import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { streamEvents } from '../../../../test/harness/factories.ts';
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

const stream = (settings: object = {}) => createEncoderStream(app, key, settings);

async function pass(seconds: number): Promise<void> {
  clock.advance(seconds * 1000);
  await signals.sweep();
}

describe('the signal comes', () => {
  test('a signal sets hasSignal, the preview and a session, and is emitted once despite repeated announcements', async () => {
    const { id, read, connect, types, sessions } = await stream();
    assert.equal(await read('previewUrl'), null);
    const session = await connect();
    await signals.publishStarted(session);
    assert.deepEqual(
      [await read('hasSignal'), await read('isLive'), await read('status')],
      [true, false, 'PREVIEW'],
    );
    assert.match(
      String(await read('previewUrl')),
      new RegExp(`^http://marquee.test/live/${id}/master.m3u8\\?token=`),
    );
    assert.equal(await read('lastSignalAt'), clock.now().toISOString());
    const list = (await sessions()).list('data');
    assert.equal(list.length, 1);
    assert.equal((await sessions()).at('data.0.id'), await read('currentSessionId'));
    assert.deepEqual(await types(), ['live']);
  });

  test('a disabled stream is rejected', async () => {
    const { connect, flags } = await stream({ enabled: false });
    await assert.rejects(connect());
    assert.deepEqual(await flags(), [false, false]);
  });

  test('a new connection of the same stream replaces the old one without an event', async () => {
    const { connect, end, flags, types } = await stream();
    const old = await connect();
    const fresh = await connect({ nodeId: 'node-2' });
    assert.deepEqual(await signals.heartbeat('node-1', [old.sessionId]), [old.sessionId]);
    assert.deepEqual(await signals.heartbeat('node-2', [fresh.sessionId]), []);
    await end(old, 'replaced');
    await pass(60);
    assert.deepEqual(await types(), ['live', 'ended']);
    assert.deepEqual(await flags(), [false, false]);
  });
});

describe('the signal is lost', () => {
  for (const reason of ['unpublish', 'idle', 'kicked', 'node-lost'] as const) {
    test(`${reason}: hasSignal becomes false immediately`, async () => {
      const { connect, end, flags, types } = await stream();
      await end(await connect(), reason);
      assert.deepEqual(await flags(), [false, false]);
      assert.deepEqual(await types(), ['live', 'ended']);
    });
  }

  for (const reason of ['closed', 'shutdown'] as const) {
    test(`${reason}: hasSignal becomes false after the reconnect window, not before`, async () => {
      const { connect, end, flags, types } = await stream();
      const session = await connect();
      await end(session, reason);
      await pass(2.999);
      assert.deepEqual(await flags(), [true, false]);
      assert.deepEqual(await types(), ['live']);
      await pass(0.001);
      assert.deepEqual(await flags(), [false, false]);
      assert.deepEqual(await types(), ['live', 'ended']);
    });
  }

  test('a reconnect within the window continues the signal without an event, in the same session', async () => {
    const { connect, end, flags, types, read } = await stream();
    await end(await connect(), 'closed');
    const session = await read('currentSessionId');
    clock.advance(2000);
    const second = await connect();
    await signals.heartbeat(second.nodeId, [second.sessionId]);
    await pass(10);
    assert.deepEqual(await flags(), [true, false]);
    assert.deepEqual(await types(), ['live']);
    assert.equal(await read('currentSessionId'), session);
  });

  test('a late end of a replaced connection changes nothing', async () => {
    const { connect, end, flags, types } = await stream();
    const old = await connect();
    await connect();
    await end(old, 'unpublish');
    assert.deepEqual(await flags(), [true, false]);
    assert.deepEqual(await types(), ['live']);
  });

  test('a repeated end is emitted once, and the end of an unknown connection is ignored', async () => {
    const { id, connect, end, types } = await stream();
    const session = await connect();
    await end(session, 'unpublish');
    await end(session, 'unpublish');
    await signals.publishEnded({ sessionId: 'ing_none', streamId: id, reason: 'unpublish', bytes: 0 });
    assert.deepEqual(await types(), ['live', 'ended']);
  });

  test('a node silent for 20 s has lost its encoders, and one with heartbeats retains them', async () => {
    const lost = await stream();
    const kept = await stream();
    await lost.connect({ nodeId: 'node-lost' });
    const session = await kept.connect({ nodeId: 'node-kept' });
    for (let i = 0; i < 4; i++) {
      assert.deepEqual(await signals.heartbeat('node-kept', [session.sessionId]), []);
      assert.deepEqual(await lost.types(), ['live']);
      await pass(5);
    }
    await pass(0.001);
    assert.deepEqual(await lost.types(), ['live', 'ended']);
    assert.deepEqual(await kept.types(), ['live']);
  });

  test('a heartbeat writes the row of the node and none of its sessions', async () => {
    const { sql } = app.container;
    const [first, second] = [await stream(), await stream()];
    const sessions = [
      await first.connect({ nodeId: 'node-one' }),
      await second.connect({ nodeId: 'node-one' }),
    ];
    const ids = sessions.map(({ sessionId }) => sessionId);
    const versions = () => sql`select id, xmin::text from ingest_session where id = any(${ids}) order by id`;
    await signals.heartbeat('node-one', ids);
    const before = await versions();
    clock.advance(1000);
    assert.deepEqual(await signals.heartbeat('node-one', ids), []);
    assert.deepEqual(await versions(), before);
    const [node] = await sql`select last_seen_at from media_node where id = 'node-one'`;
    assert.deepEqual(node?.last_seen_at, clock.now());
  });

  test('a connection that its node has lost ends after 20 s, and one that returns does not', async () => {
    const [gone, back] = [await stream(), await stream()];
    await gone.connect({ nodeId: 'node-4' });
    const { sessionId } = await back.connect({ nodeId: 'node-4' });
    await signals.heartbeat('node-4', []);
    for (let second = 0; second < 20; second++) {
      await pass(1);
      assert.deepEqual(await signals.heartbeat('node-4', [sessionId]), []);
    }
    assert.deepEqual(await gone.types(), ['live']);
    await pass(0.001);
    assert.deepEqual(await gone.types(), ['live', 'ended']);
    assert.deepEqual(await back.types(), ['live']);
  });

  test('a heartbeat of a session by the previous release counts instead of that of the node', async () => {
    const { sql } = app.container;
    const { connect, types } = await stream();
    const { sessionId } = await connect({ nodeId: 'node-old' });
    const alive = () => sql`update ingest_session set last_seen_at = ${clock.now()} where id = ${sessionId}`;
    for (let second = 0; second < 3; second++) {
      await alive();
      await pass(15);
    }
    assert.deepEqual(await types(), ['live']);
    await pass(6);
    assert.deepEqual(await types(), ['live', 'ended']);
  });

  test('a longer reconnect window lets a silent node retain its encoders for that time', async (t) => {
    const time = new TestClock('2026-11-20T09:00:00.000Z');
    const patient = await startTestApp({ clock: time, env: { SIGNAL_GRACE_MS: '60000' } });
    t.after(() => patient.close());
    const { connect, types } = await createEncoderStream(patient, (await patient.createKey()).key);
    await connect({ nodeId: 'node-lost' });
    const told = async (afterMs: number) => {
      time.advance(afterMs);
      await patient.container.signals.sweep();
      return types();
    };
    assert.deepEqual(await told(60_000), ['live']);
    assert.deepEqual(await told(1), ['live', 'ended']);
  });

  test('a restarted node gives its previous connections the reconnect window', async () => {
    const { connect, types } = await stream();
    await connect({ nodeId: 'node-again' });
    await signals.nodeStarted('node-again');
    await pass(2.999);
    assert.deepEqual(await types(), ['live']);
    await pass(0.001);
    assert.deepEqual(await types(), ['live', 'ended']);
  });

  test('a connection that ended here but is still open on the node is disconnected', async () => {
    const { connect } = await stream();
    const session = await connect({ nodeId: 'node-3' });
    await pass(21);
    assert.deepEqual(await signals.heartbeat('node-3', [session.sessionId]), [session.sessionId]);
  });
});

describe('signal and broadcast', () => {
  test('the broadcast survives the loss of the signal, and the reconnect is ACTIVE without a new start', async () => {
    const { id, act, connect, end, flags, types, read } = await stream();
    const first = await connect();
    await act('start');
    const startedAt = await read('startedAt');
    clock.advance(1000);
    await end(first, 'unpublish');
    assert.deepEqual(await flags(), [false, true]);
    assert.equal(await read('status'), 'LIVE_NO_SIGNAL');
    clock.advance(1000);
    await connect();
    assert.deepEqual(await flags(), [true, true]);
    assert.equal(await read('startedAt'), startedAt);
    assert.deepEqual(await types(), ['live', 'broadcast_started', 'ended', 'live']);
    assert.equal((await streamEvents(app.container.sql, id)).at(-1)?.data.status, 'ACTIVE');
  });

  test('start before the signal: startedAt comes with the first media', async () => {
    const { id, act, connect, read } = await stream();
    await act('start');
    assert.equal(await read('startedAt'), null);
    clock.advance(7000);
    await connect();
    assert.equal(await read('startedAt'), clock.now().toISOString());
    clock.advance(60_000);
    await act('stop');
    const events = await streamEvents(app.container.sql, id);
    assert.equal(events[0]?.data.startedAt, null);
    assert.equal(events.at(-1)?.data.durationSec, 60);
  });

  test('start and stop without any signal: the duration is null, not zero', async () => {
    const { id, act } = await stream();
    await act('start');
    clock.advance(30_000);
    await act('stop');
    assert.equal((await streamEvents(app.container.sql, id)).at(-1)?.data.durationSec, null);
  });

  test('a stop on a signal without a broadcast is emitted once, with a null duration', async () => {
    const { id, act, connect, types, flags } = await stream();
    await connect();
    await act('stop');
    await act('stop');
    assert.deepEqual(await types(), ['live', 'broadcast_stopped']);
    assert.equal((await streamEvents(app.container.sql, id)).at(-1)?.data.durationSec, null);
    assert.deepEqual(await flags(), [true, false]);
  });

  test('C23.8: a stop within a minute of the stop of a signal without a broadcast is emitted immediately', async () => {
    const { id, act, connect, types } = await stream();
    await connect();
    await act('stop');
    clock.advance(10_000);
    await act('start');
    clock.advance(10_000);
    await act('stop');
    assert.deepEqual(await types(), ['live', 'broadcast_stopped', 'broadcast_started', 'broadcast_stopped']);
    const events = await streamEvents(app.container.sql, id);
    const stops = events.filter(({ type }) => type === 'stream.broadcast_stopped');
    assert.deepEqual(
      stops.map(({ data }) => data.durationSec),
      [null, 10],
    );
  });

  test('autoStart: the signal is the broadcast, and its loss does not end it', async () => {
    const { id, connect, end, flags, types } = await stream({ autoStart: true });
    const session = await connect();
    assert.deepEqual(await flags(), [true, true]);
    const events = await streamEvents(app.container.sql, id);
    assert.deepEqual([...(await types())].sort(), ['broadcast_started', 'live']);
    const started = events.find(({ type }) => type === 'stream.broadcast_started');
    assert.equal(started?.data.startedAt, clock.now().toISOString());
    assert.equal(events.find(({ type }) => type === 'stream.live')?.data.status, 'ACTIVE');
    await end(session, 'unpublish');
    assert.deepEqual(await flags(), [false, true]);
  });
});

describe('limits of a broadcast', () => {
  test('autoStopAfterSec stops the broadcast after the signal is lost, not while there is one', async () => {
    const { act, connect, end, flags } = await stream({ autoStopAfterSec: 10 });
    const session = await connect();
    await act('start');
    for (let i = 0; i < 3; i++) {
      await signals.heartbeat(session.nodeId, [session.sessionId]);
      await pass(5);
    }
    assert.deepEqual(await flags(), [true, true]);
    await end(session, 'unpublish');
    await pass(9.999);
    assert.deepEqual(await flags(), [false, true]);
    await pass(0.001);
    assert.deepEqual(await flags(), [false, false]);
  });

  test('autoStopAfterSec counts from the start when no signal arrived', async () => {
    const { act, flags } = await stream({ autoStopAfterSec: 10 });
    clock.advance(60_000);
    await act('start');
    await pass(9.999);
    assert.deepEqual(await flags(), [false, true]);
    await pass(0.001);
    assert.deepEqual(await flags(), [false, false]);
  });

  test('only a user stops a broadcast without autoStopAfterSec', async () => {
    const { act, flags } = await stream();
    await act('start');
    await pass(11 * 3600);
    assert.deepEqual(await flags(), [false, true]);
    await act('stop');
  });

  test('maxDurationSec stops the broadcast with or without a signal, and the session shows the reason', async () => {
    const { id, act, connect, flags, sessions } = await stream({ maxDurationSec: 60 });
    const session = await connect();
    await act('start');
    for (let i = 0; i < 11; i++) {
      await signals.heartbeat(session.nodeId, [session.sessionId]);
      await pass(5);
    }
    assert.deepEqual(await flags(), [true, true]);
    await signals.heartbeat(session.nodeId, [session.sessionId]);
    await pass(5);
    assert.deepEqual(await flags(), [true, false]);
    assert.equal((await sessions()).at('data.0.error'), 'DURATION_EXCEEDED');
    assert.equal((await streamEvents(app.container.sql, id)).at(-1)?.data.durationSec, 60);
  });
});

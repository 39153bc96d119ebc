import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ingestSession, streamEvents } from '../../../../test/harness/factories.ts';
import { PLANS } from '../../../kernel/plans.ts';

const START = '2026-11-20T09:00:00.000Z';
const clock = new TestClock(START);
let app: TestApp;

before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

/** Returns helpers for the streams of a new account. */
async function fresh(plan: keyof typeof PLANS = 'VIP') {
  const { key, account } = await app.createKey({ account: await app.createAccount({ plan }) });
  const act = (id: string, verb: string) => app.request('POST', `/streams/${id}/${verb}`, { key });
  const create = async (body: object = {}) =>
    (await app.request('POST', '/streams', { key, body: { title: 'x', ...body } })).string('data.id');
  return { key, account, act, create };
}

describe('start, stop, end', () => {
  test('start and stop return 200 with the stream, and repeats change and emit nothing', async () => {
    const { act, create } = await fresh();
    const id = await create();
    const started = (await act(id, 'start')).assertOk(200);
    assert.equal(started.at('data.isLive'), true);
    assert.equal(started.at('data.status'), 'LIVE_NO_SIGNAL');
    assert.equal(started.at('data.startedAt'), null);
    assert.equal((await act(id, 'start')).assertOk(200).text, started.text);
    const stopped = (await act(id, 'stop')).assertOk(200);
    assert.equal(stopped.at('data.isLive'), false);
    assert.equal(stopped.at('data.status'), 'IDLE');
    assert.equal(stopped.at('data.endedAt'), clock.now().toISOString());
    assert.equal((await act(id, 'end')).assertOk(200).text, stopped.text);
    const types = (await streamEvents(app.container.sql, id)).map((event) => event.type);
    assert.deepEqual(types, ['stream.broadcast_started', 'stream.broadcast_stopped']);
  });

  test('/end does what /stop does', async () => {
    const { act, create } = await fresh();
    const [one, two] = [await create(), await create()];
    for (const id of [one, two]) await act(id, 'start');
    clock.advance(1000);
    const data = async (id: string, verb: string) =>
      (await act(id, verb))
        .assertOk(200)
        .text.replaceAll(id, '<id>')
        .replace(/"createdAt":"[^"]+"/, '');
    assert.equal(await data(one, 'stop'), await data(two, 'end'));
  });

  test('stop on an idle stream: 200, no event', async () => {
    const { act, create } = await fresh();
    const id = await create();
    assert.equal((await act(id, 'stop')).assertOk(200).at('data.status'), 'IDLE');
    assert.deepEqual(await streamEvents(app.container.sql, id), []);
  });

  test('the payloads are exactly the documented ones', async () => {
    const { act, create } = await fresh();
    const { signals, sql } = app.container;
    const id = await create();
    const begin = clock.ms();
    const session = ingestSession(id);
    await signals.publishStarted(session);
    const wentLiveAt = clock.now().toISOString();
    clock.advance(5400);
    await act(id, 'start');
    const startedAt = clock.now().toISOString();
    clock.advance(61_900);
    await act(id, 'stop');
    const endedAt = clock.now().toISOString();
    clock.advance(1000);
    await signals.publishEnded({ sessionId: session.sessionId, streamId: id, reason: 'unpublish', bytes: 1 });
    const events = await streamEvents(sql, id);
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [
        ['stream.live', { streamId: id, status: 'HAS_SIGNAL', wentLiveAt }],
        ['stream.broadcast_started', { streamId: id, isLive: true, startedAt }],
        ['stream.broadcast_stopped', { streamId: id, isLive: false, endedAt, durationSec: 61 }],
        ['stream.ended', { streamId: id, endedAt: clock.now().toISOString(), durationSec: null }],
      ],
    );
    for (const { id: eventId, livemode, created } of events) {
      assert.match(eventId, /^[0-9a-f-]{36}$/);
      assert.equal(livemode, false);
      assert.ok(created * 1000 >= begin - 1000 && created * 1000 <= clock.ms());
    }
  });

  test('a body is optional and ignored', async () => {
    const { key, create } = await fresh();
    const id = await create();
    const start = await app.request('POST', `/streams/${id}/start`, { key, body: { title: 5 } });
    assert.equal(start.assertOk(200).at('data.title'), 'x');
  });
});

describe('the plan', () => {
  test('twenty concurrent encoders of autoStart streams get the encoders and broadcasts of the plan', async () => {
    const { key, create } = await fresh('STAR');
    const { signals, sql } = app.container;
    const ids = await Promise.all(Array.from({ length: 20 }, () => create({ autoStart: true })));
    const publishes = await Promise.allSettled(ids.map((id) => signals.publishStarted(ingestSession(id))));
    const connected = ids.filter((_, index) => publishes[index]?.status === 'fulfilled');
    assert.equal(connected.length, PLANS.STAR.encoders);
    const live = await app.request('GET', '/streams?isLive=true', { key });
    assert.equal(live.list('data').length, PLANS.STAR.concurrentStreams);
    for (const id of connected) {
      const events = await streamEvents(sql, id);
      const started = events.some((event) => event.type === 'stream.broadcast_started');
      assert.equal(events[0]?.data.status, started ? 'ACTIVE' : 'HAS_SIGNAL');
    }
  });

  test('concurrent starts and encoders do not deadlock', async () => {
    const { act, create } = await fresh('VIP');
    const ids = await Promise.all(Array.from({ length: 10 }, () => create({ autoStart: true })));
    const both = ids.flatMap((id) => [
      act(id, 'start').then((answer) => answer.assertOk(200)),
      app.container.signals.publishStarted(ingestSession(id)),
    ]);
    await Promise.all(both);
  });

  test('a stopped broadcast frees its slot, and test mode is counted separately', async () => {
    const { key, account, act, create } = await fresh('FREE');
    const [one, two] = [await create(), await create()];
    (await act(one, 'start')).assertOk(200);
    (await act(two, 'start')).assertError('QUOTA_EXCEEDED');
    const sandbox = (await app.createKey({ account, mode: 'test' })).key;
    const made = await app.request('POST', '/streams', { key: sandbox, body: { title: 'x' } });
    const path = `/streams/${made.string('data.id')}/start`;
    (await app.request('POST', path, { key: sandbox })).assertOk(200);
    await act(one, 'stop');
    (await act(two, 'start')).assertOk(200);
    assert.equal((await app.request('GET', `/streams/${two}`, { key })).at('data.isLive'), true);
  });
});

describe('state change, event and delivery share one transaction', () => {
  test('when the event cannot be written, the stream does not start', async () => {
    const { key, act, create } = await fresh();
    const id = await create();
    const { sql } = app.container;
    await sql.unsafe(`alter table event add constraint refused check (type not like '%started') not valid`);
    try {
      (await act(id, 'start')).assertError('INTERNAL_ERROR');
    } finally {
      await sql.unsafe('alter table event drop constraint refused');
    }
    const kept = await app.request('GET', `/streams/${id}`, { key });
    assert.equal(kept.at('data.isLive'), false);
    assert.deepEqual(await streamEvents(sql, id), []);
    (await act(id, 'start')).assertOk(200);
  });

  test('when the stream cannot be written, there is no event', async () => {
    const { act, create } = await fresh();
    const id = await create();
    const { sql } = app.container;
    await sql.unsafe(
      `alter table stream add constraint refused check (not is_live or id <> '${id}') not valid`,
    );
    try {
      (await act(id, 'start')).assertError('INTERNAL_ERROR');
    } finally {
      await sql.unsafe('alter table stream drop constraint refused');
    }
    assert.deepEqual(await streamEvents(sql, id), []);
  });

  test('a webhook of the workspace gets a job with the commit, one of another workspace gets none', async () => {
    const { account, act, create } = await fresh();
    const stranger = await fresh();
    const { db } = app.container;
    for (const workspaceId of [account.live, account.test, stranger.account.live]) {
      await db
        .insertInto('webhook')
        .values({
          id: `wh_${workspaceId}`,
          workspace_id: workspaceId,
          url: 'https://receiver.test/',
          events: ['stream.broadcast_started'],
          secret: Buffer.alloc(8),
          created_at: clock.now(),
          updated_at: clock.now(),
        })
        .execute();
    }
    const id = await create();
    await act(id, 'start');
    const jobs = await db.selectFrom('delivery_job').select(['webhook_id', 'event_id']).execute();
    const [event] = await streamEvents(app.container.sql, id);
    assert.deepEqual(
      jobs.map((job) => [job.webhook_id, job.event_id]),
      [[`wh_${account.live}`, event?.id]],
    );
  });
});

test('broadcast events of a stream are emitted at most once per minute, and the last state always is', async () => {
  const { act, create } = await fresh();
  const { signals, sql } = app.container;
  const id = await create();
  const begin = clock.ms();
  for (let i = 0; i < 5; i++) {
    await act(id, 'start');
    clock.advance(2000);
    await act(id, 'stop');
    clock.advance(2000);
  }
  await act(id, 'start');
  const said = async () => (await streamEvents(sql, id)).map(({ type, created }) => [type, created]);
  const first = Math.floor(begin / 1000);
  assert.deepEqual(await said(), [
    ['stream.broadcast_started', first],
    ['stream.broadcast_stopped', first + 2],
  ]);
  clock.advance(60_000 - (clock.ms() - begin) - 1);
  await signals.sweep();
  assert.equal((await said()).length, 2);
  clock.advance(1);
  await signals.sweep();
  assert.deepEqual((await said()).at(-1), ['stream.broadcast_started', first + 60]);
  await signals.sweep();
  assert.equal((await said()).length, 3);
});

test('a stream deleted before its suppressed stop was emitted still emits it', async () => {
  const { key, act, create } = await fresh();
  const { signals, sql } = app.container;
  const id = await create();
  await act(id, 'start');
  clock.advance(10_000);
  await act(id, 'stop');
  clock.advance(50_000);
  await act(id, 'start');
  clock.advance(5000);
  await act(id, 'stop');
  (await app.request('DELETE', `/streams/${id}`, { key })).assertOk(200);
  const said = async () =>
    (await streamEvents(sql, id)).map((event) => event.type.slice('stream.broadcast_'.length));
  assert.deepEqual(await said(), ['started', 'stopped', 'started']);
  clock.advance(5000);
  await signals.sweep();
  assert.deepEqual(await said(), ['started', 'stopped', 'started', 'stopped']);
});

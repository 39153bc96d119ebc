import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ingestSession, insertAccount, type TestAccount } from '../../../../test/harness/factories.ts';
import type { BridgeReport } from '../../../media/contract/index.ts';

const clock = new TestClock();
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const SOURCE = 'https://live.example.com/event/master.m3u8?token=secret-token';

interface Owner {
  key: string;
  account: TestAccount;
  streamId: string;
}

async function owner(plan: 'FREE' | 'VIP' = 'VIP', settings: object = {}): Promise<Owner> {
  const account = await insertAccount(app.container.db, { plan });
  const { key } = await app.createKey({ account });
  const body = { title: 'Friday', ...settings };
  const created = (await app.request('POST', '/streams', { key, body })).assertOk(201);
  return { key, account, streamId: created.string('data.id') };
}

const post = ({ key, streamId }: Owner, more: object = {}) => {
  const body = { type: 'PULL_TO_STREAM', sourceUrl: SOURCE, targetId: streamId, ...more };
  return app.request('POST', '/bridges', { key, body });
};
const bridge = async (mine: Owner, more: object = {}) => {
  const made = (await post(mine, more)).assertOk(201);
  return made.string('data.id');
};
const get = ({ key }: Owner, id: string) => app.request('GET', `/bridges/${id}`, { key });
const port = () => app.container.bridgeRuns.port;
const wantedBy = async (nodeId: string) =>
  (await port().wanted(nodeId, true)).map(({ bridgeId }) => bridgeId);
const say = (bridgeId: string, status: BridgeReport['status'], more: Partial<BridgeReport> = {}) => {
  const plain = { endReason: null, message: null, retryCount: 0, retryInMs: null };
  return port().report('node-1', { bridgeId, status, ...plain, ...more });
};

async function emittedEvents({ account }: Owner): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const rows = await app.container.db
    .selectFrom('event')
    .select(['type', 'body'])
    .where('workspace_id', '=', account.live)
    .orderBy('seq')
    .execute();
  return rows
    .filter(({ type }) => type.startsWith('bridge.'))
    .map(({ type, body }) => ({ type, data: JSON.parse(String(body)).data }));
}

describe('nodes of one machine', () => {
  const machine = ['node-a', 'node-b'];
  const claim = async (nodeId: string) =>
    (await port().wanted(nodeId, true, machine)).map(({ bridgeId }) => bridgeId);

  test('share unclaimed bridges, and each bridge runs on one of them', async () => {
    const made: string[] = [];
    let first: string[] = [];
    let second: string[] = [];
    while (first.length === 0 || second.length === 0) {
      made.push(await bridge(await owner()));
      [first, second] = [await claim('node-a'), await claim('node-b')];
      assert.deepEqual([...first, ...second].filter((id) => made.includes(id)).toSorted(), made.toSorted());
    }
  });

  test('a node claims the bridges that the preferred node has not claimed after three seconds', async () => {
    const made = [await bridge(await owner())];
    while ((await claim('node-a')).includes(made.at(-1) ?? '')) made.push(await bridge(await owner()));
    clock.advance(3000);
    const claimed = await claim('node-a');
    assert.ok(made.every((id) => claimed.includes(id)));
  });
});

describe('POST /bridges', () => {
  test('creating a bridge returns 201 with the whole resource and masks secrets in its URL', async () => {
    const mine = await owner();
    const made = (await post(mine, { autoRestart: true })).assertOk(201);
    const id = made.string('data.id');
    const whole = {
      id,
      type: 'PULL_TO_STREAM',
      sourceId: null,
      sourceUrl: 'https://live.example.com/event/master.m3u8?token=***',
      targetId: mine.streamId,
      layout: null,
      status: 'PENDING',
      error: null,
      endReason: null,
      autoRestart: true,
      retryCount: 0,
      nextRetryAt: null,
      expiresAt: null,
      startedAt: null,
      stoppedAt: null,
      createdAt: clock.now().toISOString(),
      mode: 'live',
    };
    assert.deepEqual(made.at('data'), whole);
    assert.deepEqual((await get(mine, id)).at('data'), whole);
    const listed = await app.request('GET', `/bridges?status=PENDING&targetId=${mine.streamId}`, {
      key: mine.key,
    });
    assert.deepEqual(listed.assertOk(200).at('data'), [whole]);
    const row = await app.container.db
      .selectFrom('bridge')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const bytes = Buffer.from(row.source_url ?? []).toString('latin1');
    assert.ok(!`${JSON.stringify(row)}${bytes}`.includes('secret-token'));
    const wanted = (await port().wanted('node-1', false)).find(({ bridgeId }) => bridgeId === id);
    assert.ok(wanted?.type === 'PULL_TO_STREAM' && wanted.sourceUrl === SOURCE);
  });

  test('invalid input gets an error with the field at fault', async () => {
    const mine = await owner();
    const other = await owner();
    const cases: [object, string][] = [
      [{ type: 'ELSEWHERE' }, 'type'],
      [{ sourceUrl: null }, 'sourceUrl'],
      [{ sourceId: other.streamId }, 'sourceId'],
      [{ sourceId: '' }, 'sourceId'],
      [{ sourceUrl: '' }, 'sourceUrl'],
      [{ targetId: '' }, 'targetId'],
      [{ type: 'STREAM_TO_ROOM', sourceUrl: null, sourceId: '' }, 'sourceId'],
      [{ type: 'STREAM_TO_ROOM', sourceUrl: '', sourceId: mine.streamId }, 'sourceUrl'],
      [{ sourceUrl: 'http://live.example.com/a.m3u8' }, 'sourceUrl'],
      [{ sourceUrl: 'file:///etc/passwd' }, 'sourceUrl'],
      [{ sourceUrl: 'https://10.0.0.1/a.m3u8' }, 'sourceUrl'],
      [{ sourceUrl: 'rtmp://localhost/live/key' }, 'sourceUrl'],
      [{ sourceUrl: 'rtmp://live.example.com/key' }, 'sourceUrl'],
      [{ sourceUrl: 'srt://live.example.com' }, 'sourceUrl'],
      [{ sourceUrl: 'srt://live.example.com:9000?passphrase=0123456789' }, 'sourceUrl'],
      [{ sourceUrl: 'rtsp://user:word@192.168.1.1/cam' }, 'sourceUrl'],
      [{ sourceUrl: `https://live.example.com/${'a'.repeat(2100)}` }, 'sourceUrl'],
      [{ targetId: other.streamId }, 'targetId'],
      [{ targetId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr' }, 'targetId'],
      [{ layout: 'GRID' }, 'layout'],
      [{ expiresAt: clock.now().toISOString() }, 'expiresAt'],
      [{ expiresAt: 'soon' }, 'expiresAt'],
      [{ type: 'STREAM_TO_ROOM' }, 'sourceUrl'],
      [{ type: 'STREAM_TO_ROOM', sourceUrl: null }, 'sourceId'],
    ];
    for (const [more, field] of cases) (await post(mine, more)).assertError('BAD_REQUEST', field);
    // The mesh engine runs rooms between browsers, so there is nothing to bridge.
    const rooms = { type: 'ROOM_TO_STREAM', sourceUrl: null, sourceId: 'room_1', layout: 'GRID' };
    (await post(mine, rooms)).assertError('CONFLICT', 'type');
  });

  test('credentials are masked in every kind of address', async () => {
    const shown: [string, string][] = [
      ['https://me:word@live.example.com/a.m3u8', 'https://***@live.example.com/a.m3u8'],
      ['rtmp://live.example.com/live/my-key?auth=1', 'rtmp://live.example.com/live/***?auth=***'],
      ['srt://live.example.com:9000?streamid=my-key', 'srt://live.example.com:9000?streamid=***'],
      ['rtsp://me:word@live.example.com/cam/1', 'rtsp://***@live.example.com/cam/1'],
    ];
    for (const [sourceUrl, masked] of shown) {
      const made = (await post(await owner(), { sourceUrl })).assertOk(201);
      assert.equal(made.string('data.sourceUrl'), masked);
    }
  });

  test('a target that an encoder or a bridge already feeds, or that is disabled, gets CONFLICT', async () => {
    const mine = await owner();
    const id = await bridge(mine);
    (await post(mine)).assertError('CONFLICT', 'targetId');
    (await app.request('DELETE', `/bridges/${id}`, { key: mine.key })).assertOk(200);
    await app.container.signals.publishStarted(ingestSession(mine.streamId));
    (await post(mine)).assertError('CONFLICT', 'targetId');
    const off = await owner('VIP', { enabled: false });
    (await post(off)).assertError('CONFLICT', 'targetId');
    const both = await owner();
    const answers = await Promise.all([post(both), post(both), post(both)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
  });

  test('keys without the permission are rejected', async () => {
    const mine = await owner();
    const { key } = await app.createKey({
      account: mine.account,
      scope: 'STANDARD',
      permissions: ['streams:read'],
    });
    (await post({ ...mine, key })).assertError('PERMISSION_DENIED');
    (await app.request('GET', '/bridges', { key })).assertOk(200);
  });
});

describe('the run of a bridge', () => {
  test('one node runs the bridge, and connecting, failing, recovering and ending emit one event each', async () => {
    const mine = await owner();
    const id = await bridge(mine, { autoRestart: true });
    assert.ok((await wantedBy('node-1')).includes(id));
    assert.ok(!(await wantedBy('node-2')).includes(id));
    await say(id, 'CONNECTING');
    await say(id, 'ACTIVE');
    assert.equal((await get(mine, id)).string('data.startedAt'), clock.now().toISOString());
    await say(id, 'PENDING', { message: 'The source returned status 404.', retryCount: 1, retryInMs: 1000 });
    const waiting = await get(mine, id);
    assert.equal(waiting.string('data.error'), 'The source returned status 404.');
    assert.equal(Date.parse(waiting.string('data.nextRetryAt')) - clock.ms(), 1000);
    await say(id, 'CONNECTING', { retryCount: 1 });
    assert.equal((await get(mine, id)).string('data.error'), 'The source returned status 404.');
    await say(id, 'PENDING', { message: 'The source returned status 404.', retryCount: 2, retryInMs: 2000 });
    await say(id, 'ACTIVE', { retryCount: 2 });
    await say(id, 'STOPPED', { endReason: 'SOURCE_ENDED' });
    await say(id, 'ACTIVE');
    assert.equal((await get(mine, id)).string('data.status'), 'STOPPED');
    assert.ok(!(await wantedBy('node-1')).includes(id));
    const events = await emittedEvents(mine);
    const types = ['connected', 'failed', 'connected', 'stopped'].map((type) => `bridge.${type}`);
    assert.deepEqual(
      events.map(({ type }) => type),
      types,
    );
    assert.deepEqual(
      events.map(({ data }) => data.sequence),
      [1, 2, 3, 4],
    );
    assert.equal(events[3]?.data.endReason, 'SOURCE_ENDED');
    // An ended bridge does not block a new one.
    (await post(mine)).assertOk(201);
  });

  test('a bridge waits for another node when its node is lost, and for the same node after a restart', async () => {
    const mine = await owner();
    const id = await bridge(mine);
    await wantedBy('node-1');
    await say(id, 'ACTIVE');
    await port().started('node-1');
    assert.equal((await get(mine, id)).string('data.status'), 'PENDING');
    assert.ok((await wantedBy('node-1')).includes(id));
    await say(id, 'ACTIVE');
    clock.advance(31_000);
    await app.container.bridgeRuns.sweep();
    assert.equal((await get(mine, id)).string('data.status'), 'PENDING');
    assert.ok((await wantedBy('node-2')).includes(id));
    await say(id, 'ACTIVE');
    assert.equal((await get(mine, id)).string('data.status'), 'PENDING', 'a report of a former node');
  });

  test('a platform fault is not a failure: emitted events stay valid', async () => {
    const mine = await owner();
    const id = await bridge(mine, { autoRestart: true });
    const types = async () => (await emittedEvents(mine)).map(({ type }) => type.replace('bridge.', ''));
    const failure = { message: 'The source returned status 404.', retryCount: 1, retryInMs: 1000 };
    /** Simulates a restart of the node's process. */
    const restart = async () => {
      await port().started('node-1');
      await wantedBy('node-1');
      await say(id, 'CONNECTING');
    };
    await wantedBy('node-1');
    await say(id, 'ACTIVE');
    await port().started('node-1');
    const waiting = await get(mine, id);
    assert.deepEqual([waiting.at('data.status'), waiting.at('data.error')], ['PENDING', null]);
    await restart();
    await say(id, 'ACTIVE');
    assert.deepEqual(await types(), ['connected']);
    // A source that is lost as well counts as a failure.
    await restart();
    await say(id, 'PENDING', failure);
    assert.deepEqual(await types(), ['connected', 'failed']);
    // It continues the failures before the fault.
    await restart();
    await say(id, 'PENDING', failure);
    assert.deepEqual(await types(), ['connected', 'failed']);
    await restart();
    await say(id, 'ACTIVE');
    assert.deepEqual(await types(), ['connected', 'failed', 'connected']);
    // Another node claims the bridge before the loss is detected.
    clock.advance(31_000);
    assert.ok((await wantedBy('node-2')).includes(id));
    for (const status of ['CONNECTING', 'ACTIVE'] as const) {
      const plain = { endReason: null, message: null, retryCount: 0, retryInMs: null };
      await port().report('node-2', { bridgeId: id, status, ...plain });
    }
    assert.equal((await get(mine, id)).string('data.status'), 'ACTIVE');
    assert.deepEqual(await types(), ['connected', 'failed', 'connected']);
  });

  test('a failure without autoRestart is final and sends a notification', async () => {
    const mine = await owner();
    const id = await bridge(mine);
    await wantedBy('node-1');
    await say(id, 'FAILED', { message: 'The source returned status 404.', retryCount: 1 });
    const failed = await get(mine, id);
    assert.equal(failed.string('data.status'), 'FAILED');
    assert.equal(failed.string('data.error'), 'The source returned status 404.');
    const [event] = await emittedEvents(mine);
    assert.equal(event?.type, 'bridge.failed');
    assert.equal(event?.data.status, 'FAILED');
  });

  test('a bridge ends with its expiry, its target and its account', async () => {
    const { db } = app.container;
    const expiring = await owner();
    const stopped = await owner();
    const deleted = await owner();
    const disabled = await owner();
    const suspended = await owner();
    const expiresAt = new Date(clock.ms() + 60_000).toISOString();
    const cases: [Owner, string, string][] = [
      [expiring, await bridge(expiring, { expiresAt }), 'EXPIRED'],
      [stopped, await bridge(stopped), 'TARGET_ENDED'],
      [deleted, await bridge(deleted), 'TARGET_ENDED'],
      [disabled, await bridge(disabled), 'TARGET_ENDED'],
      [suspended, await bridge(suspended), 'SUSPENDED'],
    ];
    await wantedBy('node-1');
    for (const [, id] of cases) await say(id, 'ACTIVE');
    const act = (one: Owner, path: string, method = 'POST', body?: object) =>
      app.request(method, `/streams/${one.streamId}${path}`, {
        key: one.key,
        ...(body === undefined ? {} : { body }),
      });
    clock.advance(1000);
    (await act(stopped, '/start')).assertOk(200);
    assert.equal((await wantedBy('node-1')).length >= 5, true);
    clock.advance(1000);
    (await act(stopped, '/stop')).assertOk(200);
    (await act(deleted, '', 'DELETE')).assertOk(200);
    (await act(disabled, '', 'PATCH', { enabled: false })).assertOk(200);
    await db
      .updateTable('account')
      .set({ suspended_at: clock.now() })
      .where('id', '=', suspended.account.id)
      .execute();
    clock.advance(60_000);
    const left = await wantedBy('node-1');
    for (const [, id, reason] of cases) {
      assert.ok(!left.includes(id));
      const row = await db.selectFrom('bridge').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      assert.deepEqual([row.status, row.end_reason], ['STOPPED', reason]);
    }
    assert.equal((await emittedEvents(expiring)).at(-1)?.data.endReason, 'EXPIRED');
  });

  test('DELETE ends the bridge, emits the event and deletes the row', async () => {
    const mine = await owner();
    const id = await bridge(mine);
    (await app.request('DELETE', `/bridges/${id}`, { key: mine.key })).assertOk(200);
    assert.ok(!(await wantedBy('node-1')).includes(id));
    (await get(mine, id)).assertError('NOT_FOUND');
    assert.equal((await emittedEvents(mine)).at(-1)?.data.endReason, 'DELETED');
  });
});

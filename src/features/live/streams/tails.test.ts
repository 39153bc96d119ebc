import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runCommand } from '../../../../test/harness/command-line.ts';
import { openTail, type TailClient } from '../../../../test/harness/tail.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import { systemClock } from '../../../kernel/clock.ts';

const clock = new TestClock(systemClock.ms());
let app: TestApp;
let other: TestApp;
let key: string;

before(async () => {
  app = await startTestApp({ clock });
  other = await startTestApp({ clock, beside: app });
  ({ key } = await app.createKey());
});
after(async () => {
  await other.close();
  await app.close();
});

const tail = (path: string, options: { on?: TestApp; key?: string; after?: string; accept?: string } = {}) =>
  openTail(`${(options.on ?? app).url}/api/v1${path}`, { key, ...options });
const statuses = (client: TailClient) => client.data('status').map(({ status }) => status);
const newStream = () => createEncoderStream(app, key);

describe('the status of a stream', () => {
  test('the status is a JSON object, and a tail when the client accepts events', async () => {
    const stream = await newStream();
    const json = (await app.request('GET', `/streams/${stream.id}/status`, { key })).assertOk(200);
    assert.deepEqual(json.at('data'), {
      streamId: stream.id,
      hasSignal: false,
      isLive: false,
      status: 'IDLE',
      startedAt: null,
      endedAt: null,
      health: null,
      changed: [],
      at: clock.now().toISOString(),
    });
    assert.match(String(json.headers.vary), /Accept/);
    for (const accept of ['application/json, text/event-stream;q=0.5', '*/*', 'text/event-stream;q=0']) {
      const answer = await tail(`/streams/${stream.id}/status`, { accept });
      assert.match(String(answer.response.headers.get('content-type')), /^application\/json/, accept);
      await answer.close();
    }
    const open = await tail(`/streams/${stream.id}/status`);
    const { headers } = open.response;
    assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(headers.get('x-accel-buffering'), 'no');
    assert.ok(headers.has('x-ratelimit-remaining'));
    await open.waitFor('status');
    const [hello] = open.data('ready');
    assert.deepEqual(hello, {
      streamId: stream.id,
      tail: 'status',
      serverTime: clock.now().toISOString(),
      resumed: false,
      lifetimeSec: 3600,
    });
    assert.deepEqual(open.data('status')[0], json.at('data'));
    await open.close();
  });

  test('every change is sent on every node, in order and with its fields', async () => {
    const stream = await newStream();
    const tails = await Promise.all([
      tail(`/streams/${stream.id}/status`),
      tail(`/streams/${stream.id}/status/tail`, { on: other, accept: '*/*' }),
    ]);
    for (const one of tails) await one.waitFor('status');
    const session = await stream.connect();
    await stream.act('start');
    await stream.act('stop');
    await stream.end(session, 'unpublish');
    for (const one of tails) {
      await one.waitFor('status', 5);
      assert.deepEqual(statuses(one), ['IDLE', 'PREVIEW', 'LIVE', 'PREVIEW', 'IDLE']);
      assert.deepEqual(
        one.data('status').map(({ changed }) => changed),
        [
          [],
          ['hasSignal', 'status'],
          ['isLive', 'status', 'startedAt'],
          ['isLive', 'status', 'endedAt'],
          ['hasSignal', 'status'],
        ],
      );
      const ids = one.messages.map(({ id }) => Number(id?.split('-')[1]));
      assert.deepEqual(ids, [0, 0, 1, 2, 3, 4]);
      await one.close();
    }
  });

  test('a stream that is taken down ends as DISABLED', async () => {
    const stream = await newStream();
    await stream.act('start');
    const open = await tail(`/streams/${stream.id}/status`);
    await open.waitFor('status');
    const words = ['content', 'takedown', '--id', stream.id, '--reason', 'Not theirs.'];
    assert.equal((await runCommand(app, words)).code, 0);
    await open.waitFor('status', 3);
    assert.deepEqual(statuses(open), ['LIVE_NO_SIGNAL', 'IDLE', 'DISABLED']);
    const now = (await app.request('GET', `/streams/${stream.id}/status`, { key })).assertOk(200);
    assert.equal(open.data('status').at(-1)?.status, now.at('data.status'));
    await open.close();
  });

  test('health is a status change when its issues differ, not when its measurements differ', async () => {
    const stream = await newStream();
    await stream.connect();
    const open = await tail(`/streams/${stream.id}/status`);
    await open.waitFor('status');
    const health = { bitrateKbps: 4000, fps: 30, width: 1280, height: 720, codec: 'h264' };
    const report = (more: object) =>
      app.container.signals.reportHealth(stream.id, { ...health, issues: [], ...more });
    await report({});
    await report({ bitrateKbps: 4100 });
    await report({ issues: ['KEYFRAME_INTERVAL'] });
    await open.waitFor('status', 3);
    await stream.act('start');
    await open.waitFor('status', 4);
    assert.deepEqual(
      open.data('status').map(({ changed }) => changed),
      [[], ['health'], ['health'], ['isLive', 'status', 'startedAt']],
    );
    await open.close();
  });
});

describe('a tail resumes', () => {
  test('a tail resumes with exactly the missed entries, also on another node', async () => {
    const stream = await newStream();
    const first = await tail(`/streams/${stream.id}/status`);
    await first.waitFor('status');
    await stream.connect();
    await first.waitFor('status', 2);
    const after = first.lastId();
    await first.close();
    await stream.act('start');
    await stream.act('stop');
    const resumed = await tail(`/streams/${stream.id}/status`, { on: other, after });
    await resumed.waitFor('status', 2);
    assert.equal(resumed.data('ready')[0]?.resumed, true);
    await stream.act('start');
    await resumed.waitFor('status', 3);
    assert.deepEqual(statuses(resumed), ['LIVE', 'PREVIEW', 'LIVE']);
    const query = `?lastEventId=${resumed.lastId()}`;
    await resumed.close();
    const idle = await tail(`/streams/${stream.id}/status${query}`);
    await idle.waitFor('ready');
    await stream.act('stop');
    await idle.waitFor('status');
    assert.deepEqual(statuses(idle), ['PREVIEW'], 'nothing was missed: nothing comes twice');
    await idle.close();
  });

  test('a tail that cannot resume sends resync and begins with the current state', async () => {
    const stream = await newStream();
    const foreign = await newStream();
    await foreign.connect();
    const there = await tail(`/streams/${foreign.id}/status`);
    await there.waitFor('status');
    await stream.connect();
    const here = await tail(`/streams/${stream.id}/status`);
    await here.waitFor('status');
    clock.advance(1);
    for (const [after, reason] of [
      ['garbage', 'UNKNOWN_ID'],
      ['1-2-3', 'UNKNOWN_ID'],
      [`${clock.ms()}-9007199254740993`, 'UNKNOWN_ID'],
      [`${clock.ms()}-1`, 'UNKNOWN_ID'],
      [there.lastId().replace(/-\d+$/, '-7'), 'UNKNOWN_ID'],
      [`${clock.ms() - 2 * 3_600_000}-1`, 'EXPIRED'],
    ] as const) {
      const open = await tail(`/streams/${stream.id}/status`, { after });
      await open.waitFor('status');
      assert.deepEqual(open.data('resync'), [{ reason, droppedAtLeast: null }], after);
      assert.deepEqual(statuses(open), ['PREVIEW']);
      assert.equal(open.lastId(), here.lastId());
      await open.close();
    }
    await there.close();
    await here.close();
  });

  test('an ID older than the log is expired, except that of the last entry', async () => {
    const stream = await newStream();
    const open = await tail(`/streams/${stream.id}/status`);
    await open.waitFor('status');
    await stream.connect();
    await stream.act('start');
    const [, old, last] = await open.waitFor('status', 3);
    await open.close();
    clock.advance(3_600_001);
    await app.container.streamTails.prune();
    const gone = await tail(`/streams/${stream.id}/status`, { after: old?.id ?? '' });
    await gone.waitFor('status');
    assert.equal(gone.data('resync')[0]?.reason, 'EXPIRED');
    await gone.close();
    const kept = await tail(`/streams/${stream.id}/status`, { after: last?.id ?? '' });
    await kept.waitFor('ready');
    await stream.act('stop');
    await kept.waitFor('status');
    assert.deepEqual(kept.data('resync'), []);
    assert.deepEqual(statuses(kept), ['PREVIEW']);
    await kept.close();
  });
});

describe('a tail ends', () => {
  test('a tail ends when its stream is deleted on any node', async () => {
    const stream = await newStream();
    const kinds = ['status', 'viewers', 'tail'];
    const tails = await Promise.all(
      kinds.flatMap((kind) => [app, other].map((on) => tail(`/streams/${stream.id}/${kind}`, { on }))),
    );
    for (const one of tails) await one.waitFor('ready');
    (await app.request('DELETE', `/streams/${stream.id}`, { key })).assertOk(200);
    for (const one of tails) {
      await one.ended;
      assert.deepEqual(one.data('bye'), [{ reason: 'STREAM_DELETED', reconnect: false }]);
    }
    (await app.request('GET', `/streams/${stream.id}/status/tail`, { key })).assertError('NOT_FOUND');
  });

  test('a tail ends when its key is revoked', async () => {
    const made = await app.createKey();
    const stream = await createEncoderStream(app, made.key);
    const open = await tail(`/streams/${stream.id}/status`, { key: made.key });
    await open.waitFor('ready');
    (await app.request('DELETE', `/me/api-keys/${made.id}`, { key: made.key })).assertOk(200);
    await open.ended;
    assert.deepEqual(open.data('bye'), [{ reason: 'KEY_REVOKED', reconnect: false }]);
  });

  test('a tail ends when its node shuts down', async () => {
    const stream = await newStream();
    const node = await startTestApp({ clock, beside: app });
    const open = await tail(`/streams/${stream.id}/status`, { on: node });
    await open.waitFor('status');
    const closing = node.close();
    await open.ended;
    assert.deepEqual(open.data('bye'), [{ reason: 'SHUTDOWN', reconnect: true }]);
    await closing;
    await stream.connect();
    const resumed = await tail(`/streams/${stream.id}/status`, { after: open.lastId() });
    await resumed.waitFor('status');
    assert.deepEqual(statuses(resumed), ['PREVIEW']);
    await resumed.close();
  });
});

test('a foreign or missing stream gets 404 before the tail opens', async () => {
  const stranger = await app.createKey();
  const stream = await newStream();
  for (const kind of ['status', 'status/tail', 'viewers', 'viewers/tail', 'tail']) {
    const open = await tail(`/streams/${stream.id}/${kind}`, { key: stranger.key });
    assert.equal(open.response.status, 404);
    assert.match(String(open.response.headers.get('content-type')), /^application\/json/);
    await open.close();
  }
});

test('all kinds of tails share the slots of a key', async () => {
  const made = await app.createKey();
  const stream = await createEncoderStream(app, made.key);
  const kinds = ['status', 'status/tail', 'viewers', 'viewers/tail', 'tail'];
  const paths = Array.from({ length: 25 }, (_, n) => `/streams/${stream.id}/${kinds[n % kinds.length]}`);
  const tails = await Promise.all(paths.map((path) => tail(path, { key: made.key })));
  for (const { response } of tails) assert.equal(response.status, 200);
  const refused = await app.request('GET', `/streams/${stream.id}/viewers/tail`, { key: made.key });
  refused.assertError('SSE_PER_KEY_CAP');
  assert.equal(refused.headers['retry-after'], '5');
  await tails.pop()?.close();
  const again = await waitFor(async () => {
    const open = await tail(`/streams/${stream.id}/status`, { key: made.key });
    if (open.response.status === 200) return open;
    await open.close();
    return null;
  });
  await Promise.all([...tails, again].map((one) => one.close()));
});

test('viewers: the tail sends the current state, and a change within five seconds', async () => {
  const stream = await newStream();
  await stream.connect();
  const open = await tail(`/streams/${stream.id}/viewers`, { after: 'whatever' });
  await open.waitFor('viewers');
  const json = (await app.request('GET', `/streams/${stream.id}/viewers`, { key })).assertOk(200);
  assert.deepEqual(open.data('viewers'), [json.at('data')]);
  assert.deepEqual(open.data('resync'), []);
  await app.container.sql`update stream set viewer_count = 7 where id = ${stream.id}`;
  await app.container.sql`
    update stream_session set peak_viewers = 9, unique_viewers = 12 where stream_id = ${stream.id}`;
  await open.waitFor('viewers', 2);
  const { current, peak, unique } = open.data('viewers')[1] ?? {};
  assert.deepEqual([current, peak, unique], [7, 9, 12]);
  await open.close();
});

test('a client that does not read loses the oldest events, is notified, and delays no other client', async () => {
  const stream = await newStream();
  const socket = connect(app.port, '127.0.0.1');
  socket.pause();
  socket.write(
    `GET /api/v1/streams/${stream.id}/status/tail HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`,
  );
  const quick = await tail(`/streams/${stream.id}/status`);
  await quick.waitFor('status');
  // Enough to fill the buffers of both ends, and then the queue.
  const body = JSON.stringify({ streamId: stream.id, filler: 'x'.repeat(60_000) });
  const rounds = 500;
  const atOnce = 50;
  for (let n = atOnce; n <= rounds; n += atOnce) {
    await app.container.sql`
      with head as (
        insert into stream_log_head as head (stream_id, tail, seq, at)
          values (${stream.id}, 'STATUS', ${atOnce}, ${clock.now()})
          on conflict (stream_id, tail) do update set seq = head.seq + ${atOnce} returning seq
      ) insert into stream_log (stream_id, tail, seq, at, event, body)
        select ${stream.id}, 'STATUS', seq - ${atOnce} + n, ${clock.now()}, 'status', ${body}
          from head, generate_series(1, ${atOnce}) n`;
    app.container.bus.publish('streams', stream.id);
    await quick.waitFor('status', n + 1);
  }
  await quick.close();
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (part) => {
    text += part;
  });
  socket.resume();
  await waitFor(() => text.includes('event: resync'));
  const [, dropped] = /"reason":"OVERFLOW","droppedAtLeast":(\d+)/.exec(text) ?? [];
  assert.ok(Number(dropped) > 0);
  const last = `id: ${clock.ms()}-${rounds}\n`;
  await waitFor(() => text.includes(last), { message: 'the newest entry' });
  const shown = text.match(/^id: \d+-[1-9]\d*$/gm) ?? [];
  assert.equal(shown.length + Number(dropped), rounds, 'what is not shown is said to be lost');
  socket.destroy();
});

test('one connection carries everything about a stream, and resumes', async () => {
  const stream = await newStream();
  const open = await tail(`/streams/${stream.id}/tail`, { accept: '*/*' });
  await open.waitFor('viewers');
  await open.waitFor('health');
  await stream.connect();
  await open.waitFor('status', 2);
  const after = open.lastId();
  assert.match(after, /^\d+-1_\d+-0_\d+-0$/);
  await open.close();
  await stream.act('start');
  const resumed = await tail(`/streams/${stream.id}/tail`, { on: other, after });
  await resumed.waitFor('viewers');
  assert.deepEqual(statuses(resumed), ['LIVE']);
  assert.deepEqual(resumed.data('resync'), []);
  await resumed.close();
  const wrong = await tail(`/streams/${stream.id}/tail`, { after: '1-1' });
  await wrong.waitFor('status');
  assert.equal(wrong.data('resync')[0]?.reason, 'UNKNOWN_ID');
  await wrong.close();
});
